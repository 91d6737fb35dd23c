// SPDX-License-Identifier: Apache-2.0
// A kernel prepared for one problem on one device. Making it may allocate, load and choose; running
// it does none of that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/kernel.h"

namespace ROOFTILE_API rooftile {

class Plan {
 public:
  /// Prepares `kernel`; an empty `config` means its default.
  /// Throws Error(unsupported) with the kernel's reason.
  Plan(const KernelDef& kernel, Problem problem, Device& device, Config config = {});

  /// Runs on `views`, one for each declared argument in order, absent ones without data. Checks
  /// them against the problem, shared memory included, then launches. Asynchronous with respect to
  /// the host where the device is; const and thread-safe; allocates nothing.
  void run(const Context& context, std::span<const TensorView> views) const;

  [[nodiscard]] std::int64_t workspace_bytes() const { return prepared_.workspace_bytes; }
  [[nodiscard]] const KernelDef& kernel() const { return *kernel_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  const KernelDef* kernel_;
  Problem problem_;
  Config config_;
  Prepared prepared_;
  std::vector<std::int64_t> dense_bytes_{};  // of each argument; 0 where its memory has gaps
};

}  // namespace rooftile
