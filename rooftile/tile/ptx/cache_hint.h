// SPDX-License-Identifier: Apache-2.0
// How long the L2 cache keeps what an instruction brings. A hint is a policy for all of the lines,
// as createpolicy.fractional.L2::evict_*.b64 with fraction 1 gave them on an H200; but the normal
// one is what an instruction without a hint has: the one that createpolicy gives for evict_normal
// (0x16f0…) costs bandwidth. Source: PTX ISA, "Cache Eviction Priority Hints" and "createpolicy";
// NVIDIA CUTLASS, TMA::CacheHintSm90.
#pragma once

#include "rooftile/formats/host_device.h"

namespace rooftile {

enum class CacheHint : uint64_t {
  evict_normal = 0x1000000000000000,
  evict_first = 0x12f0000000000000,
  evict_last = 0x14f0000000000000,
};

}  // namespace rooftile
