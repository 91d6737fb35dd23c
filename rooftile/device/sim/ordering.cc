// SPDX-License-Identifier: Apache-2.0
// What happened before what: see clocks.h.
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

bool is_ordered(const Block& block, const Known& thread, int number, Epoch before, Reach reach) {
  const int actor = before.actor();
  const std::uint32_t clock = before.clock();
  const auto is_known_as = [&](Reach as) {
    if (thread.foreign == nullptr) return false;
    const Knowledge::OfBlock* known = thread.foreign->find(Knowledge::key(before.block(), as));
    return known != nullptr && known->has(actor, clock);
  };
  if (reach == Reach::fenced) return is_known_as(Reach::fenced);
  if (reach == Reach::over && is_known_as(Reach::over)) return true;
  if (before.block() != block.number % Epoch::kBlocks) return is_known_as(Reach::seen);
  if (actor == number) return true;
  if (actor < kMaxThreads) {
    if (clock <= thread.floor) return true;
    if (actor / kLanes == number / kLanes && clock <= thread.warp_floor) return true;
  }
  return thread.actors != nullptr && thread.actors[actor] >= clock;
}

void tick(Block& block, Thread& thread) {
  block.latest_clock = std::max(block.latest_clock, ++thread.clock);
}

void add_known(Knowledge& known, const Block& block, int number, Reach reach) {
  const Thread& thread = block[number];
  Knowledge::OfBlock& mine = known.of(Knowledge::key(block.number % Epoch::kBlocks, reach));
  mine.floor = std::max(mine.floor, thread.floor);
  if (thread.actors != nullptr) {
    const auto count = static_cast<std::size_t>(block.thread_count);
    if (mine.threads.size() < count) mine.threads.resize(count);
    mine.engines.resize(kEngines);
    raise_clocks(mine.threads.data(), thread.actors, count);
    raise_clocks(mine.engines.data(), thread.actors + kMaxThreads, kEngines);
  }
  if (thread.warp_floor > thread.floor) {
    const int first = number / kLanes * kLanes;
    for (int i = std::min(first + kLanes, block.thread_count); i-- > first;) {
      std::uint32_t& at = mine.clock(i);
      at = std::max(at, thread.warp_floor);
    }
  }
  std::uint32_t& mine_alone = mine.clock(number);
  mine_alone = std::max(mine_alone, thread.clock);
  if (thread.foreign != nullptr) known.join(*thread.foreign, reach);
}

void publish(Knowledge& known, Block& block, int number, Reach reach) {
  add_known(known, block, number, reach);
  tick(block, block[number]);
}

void learn(Block& block, int number, const Knowledge& known, Reach reach) {
  Thread& thread = block[number];
  for (const Knowledge::OfBlock& of : known.blocks) {
    if (!Knowledge::can_reach(of.block, reach)) continue;
    const std::uint32_t key = Knowledge::key_at(of.block, reach);
    if (key != block.number % Epoch::kBlocks) {
      own(thread.foreign).of(key).join(of);
      block.has_foreign = true;
      continue;
    }
    thread.floor = std::max(thread.floor, of.floor);
    if (of.threads.empty() && of.engines.empty()) continue;
    if (thread.actors == nullptr) thread.actors = block.new_actors();
    raise_clocks(thread.actors, of.threads.data(), of.threads.size());
    raise_clocks(thread.actors + kMaxThreads, of.engines.data(), of.engines.size());
  }
}

void learn_shared(Block& block, int number, const SharedKnowledge& known) {
  Thread& thread = block[number];
  if (thread.foreign != nullptr || known->find(block.number % Epoch::kBlocks) != nullptr) {
    learn(block, number, *known);
    return;
  }
  thread.foreign = known;
  block.has_foreign = true;
}

void publish_actor(Knowledge& known, const Block& block, int actor, std::uint32_t clock) {
  Knowledge::OfBlock& mine = known.of(block.number % Epoch::kBlocks);
  std::uint32_t& at = mine.clock(actor);
  at = std::max(at, clock);
}

void learn_actor(Block& block, int number, int actor, std::uint32_t clock) {
  Thread& thread = block[number];
  if (thread.actors == nullptr) thread.actors = block.new_actors();
  thread.actors[actor] = std::max(thread.actors[actor], clock);
}

}  // namespace rooftile::sim
