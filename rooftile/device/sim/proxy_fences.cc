// SPDX-License-Identifier: Apache-2.0
// What ordinary stores wrote, asynchronous copies and wgmma see, and may overwrite, once a proxy
// fence of some thread lies between the two: that of the writer, or of one that knew of the write.
// Source: PTX ISA, "Memory Consistency Model: Proxies", "membar/fence".
#include <algorithm>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/mbarrier.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

/// Those of a block before are forgotten. Why not made anew: that would take longer than the rest.
void begin_fences(Block& block) {
  block.has_proxy_fences = true;
  block.proxy_fences.resize(static_cast<std::size_t>(block.thread_count));
  for (ProxyFences& fences : block.proxy_fences) {
    fences.clocks.clear();
    fences.known = {};
  }
}

void fence_shared(Block& block, int number) {
  if (!block.has_proxy_fences) begin_fences(block);
  const Thread& thread = block[number];
  ProxyFences& fences = block.proxy_fences[static_cast<std::size_t>(number)];
  fences.clocks.push_back(thread.clock);
  fences.known.floor = thread.floor;
  fences.known.warp_floor = thread.warp_floor;
  if (block.has_remote_writes && thread.foreign != nullptr)
    own(fences.known.foreign).join(*thread.foreign);
  if (thread.actors == nullptr) return;
  fences.actors.assign(thread.actors, thread.actors + block.thread_count);
  fences.known.actors = fences.actors.data();
}

void fence_global(Block& block, int number) {
  Knowledge fenced;
  add_known(fenced, block, number, Reach::fenced);
  own(block[number].foreign).join(fenced);
  block.has_foreign = true;
}

/// The clock of the thread's first fence at or after `clock`; 0: there is none.
std::uint32_t next_fence(const Block& block, int thread, std::uint32_t clock) {
  if (!block.has_proxy_fences) return 0;
  const Clocks& clocks = block.proxy_fences[static_cast<std::size_t>(thread)].clocks;
  const auto next = std::lower_bound(clocks.begin(), clocks.end(), clock);
  return next != clocks.end() ? *next : 0;
}

bool is_shared_fenced(const Check& check, Epoch write) {
  const auto knows = [&](const Block& block, int thread, std::uint32_t clock) {
    return is_ordered(check.observer, check.thread, check.access.thread,
                      Epoch::make(check.launch, block.number, thread, clock));
  };
  const Block* writer = nullptr;
  for (const auto& block : check.observer.cluster->blocks)
    if (block->number % Epoch::kBlocks == write.block()) writer = block.get();
  if (writer == nullptr) return true;
  const std::uint32_t fence = next_fence(*writer, write.actor(), write.clock());
  if (fence != 0 && knows(*writer, write.actor(), fence)) return true;
  if (!check.observer.has_proxy_fences) return false;
  for (int t = 0; t < check.observer.thread_count; ++t) {
    const ProxyFences& fences = check.observer.proxy_fences[static_cast<std::size_t>(t)];
    if (fences.clocks.empty() || (writer == &check.observer && t == write.actor())) continue;
    if (knows(check.observer, t, fences.clocks.back()) &&
        is_ordered(check.observer, fences.known, t, write))
      return true;
  }
  return false;
}

}  // namespace

void fence_proxy_async(bool of_shared, bool of_global) {
  Block& block = *worker()->block;
  const int number = worker()->thread;
  ++worker()->counters[SimCounter::fences];
  if (of_shared) fence_shared(block, number);
  if (of_global) fence_global(block, number);
  tick(block, block[number]);
  if (of_shared) show_mbarriers(block, number);
}

bool is_fenced(const Check& check, Epoch write) {
  if (check.owner != nullptr) return is_shared_fenced(check, write);
  return is_ordered(check.observer, check.thread, check.access.thread, write, Reach::fenced);
}

}  // namespace rooftile::sim
