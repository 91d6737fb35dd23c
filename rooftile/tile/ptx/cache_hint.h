// SPDX-License-Identifier: Apache-2.0
// How long the L2 cache keeps what an instruction brings. A hint is a policy of
// createpolicy.fractional for all of the lines. Source: PTX ISA, "Cache Eviction Priority Hints"
// and "createpolicy"; the values are what ptxas makes of createpolicy.fractional.L2::evict_*.b64
// with fraction 1.
#pragma once

#include "rooftile/formats/host_device.h"

namespace rooftile {

enum class CacheHint : uint64_t {
  evict_normal = 0x1000000000000000,
  evict_first = 0x12f0000000000000,
  evict_last = 0x14f0000000000000,
};

}  // namespace rooftile
