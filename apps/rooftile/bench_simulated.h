// SPDX-License-Identifier: Apache-2.0
// bench on a simulated device: nothing is timed; what the kernel does is counted and its time is
// predicted.
#pragma once

#include "apps/rooftile/cli.h"

namespace rooftile {
class SimDevice;
}

namespace rooftile::cli {

/// Throws Error(bad_input) for options of timing, which mean nothing here.
void refuse_timing_options(const Session& session);

/// Simulates, prints and keeps one record; `options`: what its command had beside the problem.
void bench_simulated(Session& session, SimDevice& device, const Operation& operation,
                     const KernelDef& kernel, const Problem& problem, const Config& config,
                     const std::string& options);

}  // namespace rooftile::cli
