// SPDX-License-Identifier: Apache-2.0
// What the simulator found wrong in a launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

enum class FindingKind : std::uint8_t {
  race,           // two accesses that nothing orders
  uninitialised,  // a read of memory that nobody wrote
  out_of_bounds,  // also of null, freed memory, another variable
  misaligned,
  deadlock,        // nothing can run any more
  livelock,        // threads run, and nothing changes
  divergence,      // a barrier or warp operation that not all of its threads reach alike
  missing_wait,    // the result of an asynchronous operation used before it was waited for
  missing_fence,   // written through one proxy, read through another
  barrier_misuse,  // an mbarrier or named barrier: not initialised, wrong count, too many arrivals
  bad_operand,     // of an instruction: descriptor, alignment, size, uniformity
  registers,       // of a wgmma in flight touched
  trap,
  unsupported,  // the kernel uses what the simulator does not model
};
constexpr int kFindingKinds = 14;
std::string_view name(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string text;         // with block, thread, source line, variable, and what was expected
  std::uint64_t count = 1;  // times that it was seen at this place
};

}  // namespace rooftile
