// SPDX-License-Identifier: Apache-2.0
// A block's bulk copies out of shared memory, in the groups of the threads that issued them.
#pragma once

#include <array>
#include <vector>

#include "rooftile/device/sim/async_copy.h"

namespace rooftile::sim {

struct BulkCopy {
  std::uint64_t serial = 0;  // of issue()
  std::uint32_t clock = 0;
  std::uint32_t pc = 0;
};

struct BulkGroups {
  struct Group {
    std::vector<BulkCopy> copies{};
    bool is_read = false;  // someone waited for the sources
  };
  struct OfThread {
    std::vector<BulkCopy> open{};
    std::vector<Group> committed{};  // and not waited for
  };
  std::vector<OfThread> threads = std::vector<OfThread>(kMaxThreads);
  std::array<std::uint32_t, kWarps> clock{};  // of each warp's engines
};

BulkGroups& bulk_groups_of(Block& block);

/// The next copy of the current thread. It is two actors, since a thread may wait until the source
/// has been read, or until the result is visible.
struct BulkActors {
  CopyActor reader;
  CopyActor writer;
};
BulkActors next_bulk_copy(std::uint32_t pc);
/// Issues it into the thread's open group.
void issue_bulk(const BulkActors& actors, std::function<void()> happen);

void end_bulk_groups(Block& block);

}  // namespace rooftile::sim
