// SPDX-License-Identifier: Apache-2.0
// What captured passes leave behind: two readings of the clock for each operation, and the integers
// that costs depend on. What they mean is told after the run: that takes longer than many
// operations do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/model/program.h"
#include "rooftile/workbench/timeline.h"

namespace ROOFTILE_API rooftile {

class Recording {
 public:
  /// Times count from `origin_us` (see now_us()).
  explicit Recording(double origin_us = now_us()) : origin_us_(origin_us) {}

  /// Runs `program`, waiting for each of its operations, as a pass of `tokens` tokens that began at
  /// `start_us` (of now_us()).
  void run(std::shared_ptr<const Program> program, Stream& stream, const std::string& phase,
           std::int64_t tokens, double start_us);

  /// Appends the passes and their operations. Asks for the proofs of the kernels on `device`.
  void append_to(Timeline& timeline, const DeviceProperties& device) const;

 private:
  struct Pass {
    std::shared_ptr<const Program> program{};
    TimelinePass entry{};
    std::vector<StepTime> times{};
    std::vector<std::int32_t> integers{};  // of program->integers(), one after the other
  };

  double origin_us_;
  std::vector<Pass> passes_{};
};

}  // namespace rooftile
