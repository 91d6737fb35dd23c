// SPDX-License-Identifier: Apache-2.0
// What a kernel does on a simulated GPU, and how long that should take on a real one. Nothing here
// is timed: times are predicted (hardware/predict.h), counts are the simulator's.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/cost.h"
#include "rooftile/device/ptxas_report.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/hardware/occupancy.h"
#include "rooftile/hardware/predict.h"
#include "rooftile/op/record.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// Runs `kernel` (with `config`, empty for its default) once on `problem`, with nothing in L2, and
/// checks its result. The record's origin is simulated; it has an entry for each launch, and
/// predicted_us of all. It is
///   failed       when the simulator found a fault, the result is wrong, or the kernel throws
///   unsupported  with the kernel's reason
Record simulate(const Operation& operation, const KernelDef& kernel, const Problem& problem,
                SimDevice& device, const Config& config = {});

/// The pieces, for one launch.

/// Registers and shared memory from ptxas, where nvcc compiled the kernel; none where it did not.
std::optional<KernelResources> resources_of(const SimLaunch& launch);

/// Without registers: as far as threads and shared memory say.
Occupancy occupancy_of(const SimLaunch& launch, const Gpu& gpu,
                       const std::optional<KernelResources>& resources);

/// What the model of predict.h asks for, from counters. `tensor_unit` is the type of its matrix
/// operations, which are counted for all types together. Bytes that are still in L2 at the end of a
/// launch count as written only where they had to leave it.
KernelWork work_of(const SimCounters& counters, const Occupancy& occupancy, const Gpu& gpu,
                   Unit tensor_unit);

/// A count per request: "32", "3.25".
std::string each_text(double value);

/// What stands out about a memory instruction, in words: "32 wavefronts a request: bank conflicts".
/// Empty when nothing does.
std::string remark_on(const SimLine& line);

}  // namespace rooftile
