// SPDX-License-Identifier: Apache-2.0
// The result of one simulated launch.
#pragma once

#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/sim/counters.h"
#include "rooftile/device/sim/finding.h"
#include "rooftile/device/sim/options.h"

namespace ROOFTILE_API rooftile {

struct SimLaunch {
  std::string kernel;
  LaunchShape shape;
  SimOptions options;
  SimCounters counters;
  std::vector<SimLine> lines;
  std::vector<Finding> findings;
  double seconds = 0;  // that the simulation took
  std::int64_t static_shared_bytes = 0;
  std::string ptxas_report{};  // GpuKernel::ptxas_report
};

}  // namespace rooftile
