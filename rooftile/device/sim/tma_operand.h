// SPDX-License-Identifier: Apache-2.0
// The operands that all of TMA's instructions check.
#pragma once

#include "rooftile/device/sim/tma_box.h"
#include "rooftile/tile/tensor_map.h"

namespace rooftile::sim {

/// Where a box must begin in shared memory.
constexpr std::uint32_t kBoxAlignment = 128;

/// The box of `map` at these coordinates. Ends the launch with a finding for what is no tensor map,
/// one of another rank or of a tensor that is not in global memory, and coordinates that TMA cannot
/// take.
TmaBox box_of(const TensorMap* map, int rank, const std::int32_t* at, bool is_write,
              const char* what, std::uint32_t pc);

}  // namespace rooftile::sim
