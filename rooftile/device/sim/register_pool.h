// SPDX-License-Identifier: Apache-2.0
// The registers of a block as setmaxnreg moves them between its warps.
#pragma once

#include <array>
#include <cstdint>

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

struct RegisterPool {
  std::array<int, kWarps> per_thread{};    // as set by the warp's last setmaxnreg; 0: as launched
  std::array<std::uint32_t, kWarps> pc{};  // of that
};

/// When the block has ended: did the warps of each warpgroup set the same, and did it fit?
void end_register_pool(const Block& block, const RegisterPool& pool);

}  // namespace rooftile::sim
