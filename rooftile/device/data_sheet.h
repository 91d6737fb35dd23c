// SPDX-License-Identifier: Apache-2.0
// The hardware table's figures of a GPU as the limits that costs are held against.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/device/ceilings.h"

namespace ROOFTILE_API rooftile {

struct Gpu;  // a row of hardware/gpu.h

/// Bytes and dense operations a second on paper. A unit's rate is the best of all engines and
/// accumulators that take its type: a limit, below which no time is valid.
Ceilings data_sheet(const Gpu& gpu);

}  // namespace rooftile
