// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

constexpr std::uintptr_t kSharedAlignment = 1024;
// Before and behind a block's shared memory nothing lies, so that an access there is recognised.
constexpr std::uint64_t kSharedGuard = 64u << 10;

}  // namespace

Block::Block(Worker& owner) : worker(owner), threads(kMaxThreads) {
  const auto mapping =
      reinterpret_cast<std::uintptr_t>(reserve_pages(kSharedBytes + 2 * kSharedGuard));
  shared = reinterpret_cast<std::uint8_t*>((mapping + kSharedGuard) & ~(kSharedAlignment - 1));
}

std::uint32_t* Block::new_actors() {
  if (actors_used_ == actors_pool_.size())
    actors_pool_.push_back(std::make_unique<std::uint32_t[]>(kActors));
  std::uint32_t* actors = actors_pool_[actors_used_++].get();
  std::fill_n(actors, kActors, 0u);
  has_actors = true;
  return actors;
}

ReadSet& Block::new_read_set(std::uint32_t& at) {
  if (!free_read_sets.empty()) {
    at = free_read_sets.back();
    free_read_sets.pop_back();
  } else {
    if (read_sets_used == read_sets.size()) read_sets.push_back(std::make_unique<ReadSet>());
    at = static_cast<std::uint32_t>(read_sets_used++);
  }
  read_sets[at]->clear();
  return *read_sets[at];
}

void Block::start(Cluster& in, std::uint32_t rank_in_cluster, std::uint32_t number_in_grid,
                  Coordinates at) {
  const Launch& launch = worker.launch;
  cluster = &in;
  rank = rank_in_cluster;
  number = number_in_grid;
  began = Epoch::make(launch.serial, number, 0, 0);
  index = at;
  thread_count = live = static_cast<int>(launch.shape.block.count());
  fresh = 0;
  start_order.resize(static_cast<std::size_t>(thread_count));
  std::iota(start_order.begin(), start_order.end(), std::uint16_t{0});
  if (launch.options.order == SimOrder::reversed)
    std::reverse(start_order.begin(), start_order.end());
  if (launch.options.order == SimOrder::random)
    for (std::uint32_t i = static_cast<std::uint32_t>(thread_count); i > 1; --i)
      std::swap(start_order[i - 1], start_order[worker.random_below(i)]);
  for (int t = 0; t < thread_count; ++t) threads[static_cast<std::size_t>(t)] = Thread{};
  for (int w = 0; w < warp_count(); ++w) {
    Warp& warp = warps[static_cast<std::size_t>(w)];
    warp.gathering_count = 0;
    warp.sync_lanes = warp.operations = 0;
    warp.lanes = warp.live = lanes_of(w);
  }
  if (launch.options.check && launch.shape.dynamic_shared_bytes != 0)
    std::memset(shared, 0xff, static_cast<std::size_t>(launch.shape.dynamic_shared_bytes));
  latest_clock = 1;
  has_actors = has_foreign = has_fences = has_met_cluster = false;
  has_remote_writes = has_proxy_fences = false;
  barrier_arrived = barrier_votes = 0;
  barrier_waiting.clear();
  for (NamedBarrier& barrier : named) barrier = NamedBarrier{};
  grid_waits.clear();
  lets_next_begin = false;
  read_sets_used = actors_used_ = 0;
  free_read_sets.clear();
  engines.reset();
  remote.clear();
  statics.assign(worker.statics_bytes, 0xff);
}

int Cluster::live() const {
  int count = 0;
  for (const auto& block : blocks) count += block->live;
  return count;
}

void Cluster::start_threads(int count) {
  for (const auto& block : blocks)
    for (; count > 0 && block->has_fresh(); --count) ready.push(block->take_fresh());
}

}  // namespace rooftile::sim
