// SPDX-License-Identifier: Apache-2.0
// Runs one launch on the host's threads.
#pragma once

#include <memory>

#include "rooftile/device/sim/sim_launch.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile::sim {

class L2Cache;
struct Launch;
struct LaunchDeleter {
  void operator()(Launch* launch) const;
};

/// A launch with its arguments copied, so that the caller's may go; `l2` keeps what earlier
/// launches left. Throws Error(bad_input) for
/// what the GPU would refuse.
std::unique_ptr<Launch, LaunchDeleter> make_launch(const GpuKernel& kernel,
                                                   const LaunchShape& shape, void** args,
                                                   const SimOptions& options, const Gpu& gpu,
                                                   L2Cache& l2, bool follows_kernel);

/// Runs it to its end. Findings and counters are in the result; throws nothing of the kernel's.
SimLaunch run_launch(Launch& launch);

}  // namespace rooftile::sim
