// SPDX-License-Identifier: Apache-2.0
// A kernel under measurement. Its answers are known before the first sample; before every sample a
// few elements of its output are poisoned and after it they must be right, so that work skipped,
// done later on another thread or taken from an earlier call shows at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rooftile/op/plan.h"
#include "rooftile/op/record.h"
#include "rooftile/workbench/timing.h"
#include "rooftile/workbench/workload.h"

namespace rooftile {

class MeasuredKernel {
 public:
  MeasuredKernel(const OpDef& op, const KernelDef& kernel, const Problem& problem, Device& device,
                 Stream& stream, const Config& config);

  /// Checks a run of each on other data in the same memory, then one on the data to be
  /// measured, against the reference. What is wrong and with which, empty when all is right. The
  /// data and what is expected are made once for all; the errors of the first go to `record`.
  static std::string check_before(std::span<MeasuredKernel* const> kernels, Record& record);

  /// Whether an output shares memory with an input: a run on its own results means nothing, so each
  /// is preceded by restoring the inputs.
  [[nodiscard]] bool is_in_place() const;

  /// The timed run with its spot checks.
  Contender contender();

  /// Whether the output is still what check_before() accepted, the memory untouched, and a run on
  /// other data in the same memory right. Leaves that data.
  std::string check_after();

  [[nodiscard]] Cost cost() const { return op_.cost(workload_.problem(), &workload_.inputs()); }
  [[nodiscard]] std::string id() const { return kernel_.id(); }
  [[nodiscard]] const Config& config() const { return plan_.config(); }

 private:
  struct Spot {
    GuardedTensor* tensor;
    std::int64_t index;
    double expected;  // the value that the checked run gave
    double bound;     // 0 where the kernel promises equal bits
  };
  std::string check_run(Record& record);
  std::string check_results(Record& record);
  std::string check_other_data();
  double spot_bound(const std::string& output, std::int64_t index, double value);
  void choose_spots();
  void poison_spots();
  std::string check_spots();
  std::string memory_fault();

  const OpDef& op_;
  const KernelDef& kernel_;
  Workload workload_;
  Plan plan_;
  Workspace workspace_;
  std::string good_bits_;
  std::vector<Spot> spots_;
  std::uint64_t sample_ = 0;
};

}  // namespace rooftile
