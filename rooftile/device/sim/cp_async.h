// SPDX-License-Identifier: Apache-2.0
// A block's cp.async copies, in the groups of the threads that issued them.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

struct SmallCopy {
  std::uint64_t source = 0;
  std::uint32_t destination = 0;  // in the window
  std::uint32_t clock = 0;        // of the warp's engine
  std::uint32_t pc = 0;
  std::uint8_t bytes = 0;
  std::uint8_t source_bytes = 0;
  bool has_landed = false;
};

struct CopyGroups {
  struct OfThread {
    std::vector<SmallCopy> open{};
    std::vector<std::vector<SmallCopy>> committed{};  // and not waited for
    std::uint32_t clock = 1;                          // of the open group: one more than the last's
  };
  std::vector<OfThread> threads = std::vector<OfThread>(kMaxThreads);
  /// Of one instruction of a warp: how often each lane issued it, and for each time the sectors
  /// that its lanes read.
  struct Requests {
    std::array<std::uint32_t, kLanes> issued{};
    std::vector<std::vector<std::uint64_t>> sectors{};
  };
  std::array<std::unordered_map<std::uint32_t, Requests>, kWarps> requests{};  // by place
};

void end_copy_groups(Block& block);

}  // namespace rooftile::sim
