// SPDX-License-Identifier: Apache-2.0
// One lane of a warp is chosen. PTX ISA, "elect.sync".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// True in one of the lanes of `mask`, which all execute it; always the same one for a mask.
__device__ __forceinline__ bool elect_sync(uint32_t mask = 0xffffffffu) {
#ifdef __CUDACC__
  uint32_t is_elected;
  asm volatile("{.reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p;}"
               : "=r"(is_elected)
               : "r"(mask)
               : "memory");
  return is_elected != 0;
#else
  const uint32_t lanes = sim::vote(sim::Vote::ballot, mask, 1);
  const auto at = threadIdx;
  const auto size = blockDim;
  const uint32_t lane = (at.x + size.x * (at.y + size.y * at.z)) % 32;
  return (lanes & (0u - lanes)) == 1u << lane;
#endif
}

}  // namespace rooftile
