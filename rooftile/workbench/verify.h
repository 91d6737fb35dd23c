// SPDX-License-Identifier: Apache-2.0
// Is a kernel right? One pipeline for every operation: fresh data, poisoned outputs, guard bands,
// the reference in double, a second set of data in the same memory, repeated runs,
// other configurations, rows alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/record.h"
#include "rooftile/op/registry.h"
#include "rooftile/workbench/workload.h"

namespace ROOFTILE_API rooftile {

struct VerifyOptions {
  Policy policy = Policy::derived;
  int repeats = 3;  // runs whose bits must agree where the kernel promises it
  std::uint64_t seed = 0;
  /// On devices that have schedules: how many to run, from 0. Each must give what is right, and the
  /// same bits where the kernel promises them.
  int schedules = 1;
};

/// Runs `kernel` on `problem` (whose seed is added to options.seed) and judges it. Never throws for
/// what the kernel does; the record says passed, failed with the reason, unsupported with it, or
/// invalid where what is allowed is so wide that zeros would have passed.
Record verify(const OpDef& op, const KernelDef& kernel, const Problem& problem, Device& device,
              const VerifyOptions& options = {});

/// Compares what the outputs hold now with the reference and fills the record's errors; the reason
/// of the first failure, empty when all is close.
std::string check_outputs(const OpDef& op, Workload& workload, Policy policy, Record& record);

/// The same for a few rows along the operation's batch axis, each by its meaning alone: what a
/// measurement can afford where the whole reference takes minutes. Of the others only that they
/// were written. False where rows are not independent, and nothing was checked.
bool check_some_rows(const OpDef& op, Workload& workload, Policy policy, Record& record,
                     std::string& fault);

struct VerifyCounts {
  int passed = 0;
  int failed = 0;
  int invalid = 0;
  int unsupported = 0;
  [[nodiscard]] int run() const { return passed + failed + invalid; }
};

struct VerifyPlan {
  std::string kernel{};             // one kernel's name; empty: every kernel of the target
  std::vector<std::string> sets{};  // sets of cases
  VerifyOptions options{};
};

/// Every kernel of `operation` that runs on `device` on every case of the sets. A kernel that
/// passes all cases of "edges" that it supports is remembered as proven; one that fails any case is
/// not. `on_record` sees each record as it is made.
VerifyCounts verify_all(const Operation& operation, Device& device, const VerifyPlan& plan,
                        const std::function<void(const Record&)>& on_record);

/// The cases of `set` ("all": every set but the large ones named roof, demo and a model's) as
/// problems of the operation.
std::vector<Problem> problems_of(const OpDef& op, const std::string& set);

}  // namespace rooftile
