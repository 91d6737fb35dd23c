// SPDX-License-Identifier: Apache-2.0
// Which simulated thread runs. A thread runs until it must wait: a legal execution, and the one in
// which missing synchronisation shows most. Clusters that wait for other blocks' writes make room
// for further ones, up to what the device holds at once.
#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/switch.h"

namespace rooftile::sim {

thread_local Worker* host_worker = nullptr;

namespace {

constexpr std::uint64_t kMostSwitchesWithoutProgress = 100'000'000;
constexpr std::uint64_t kSwitchesBetweenLooks = 1'000'000;

Coordinates to_coordinates(const Extent3& extent) { return {extent.x, extent.y, extent.z}; }

Coordinates at(std::uint64_t number, const Extent3& extent) {
  return {static_cast<std::uint32_t>(number % extent.x),
          static_cast<std::uint32_t>(number / extent.x % extent.y),
          static_cast<std::uint32_t>(number / extent.x / extent.y)};
}

/// The __shared__ variables of `block` come into this host thread's copy, the other's go out.
void bring_in(Worker& self, Block& block) {
  if (self.block == &block) return;
  // Only those: the host's own thread-local variables lie among them.
  for (const auto& [begin, end] : self.used_statics) {
    if (self.block != nullptr)
      std::memcpy(self.block->statics.data() + begin, self.statics + begin, end - begin);
    std::memcpy(self.statics + begin, block.statics.data() + begin, end - begin);
  }
  self.block = &block;
}

void begin_thread(Worker& self, Block& block, int number, std::uint8_t* stack) {
  const LaunchShape& shape = self.launch.shape;
  Fiber& fiber = fiber_of(stack);
  fiber.thread = at(static_cast<std::uint64_t>(number), shape.block);
  fiber.block = block.index;
  fiber.block_dim = to_coordinates(shape.block);
  fiber.grid_dim = to_coordinates(shape.grid);
  fiber.cluster_block = at(block.rank, shape.cluster);
  fiber.cluster_dim = to_coordinates(shape.cluster);
  fiber.worker = &self;
  fiber.watch = nullptr;
  Warp& warp = block.warps[static_cast<std::size_t>(number / kLanes)];
  fiber.state = &block[number];
  fiber.warp = &warp;
  fiber.lane = static_cast<std::uint32_t>(number % kLanes);
  if (warp.logs == nullptr) {
    if (self.logs.empty())
      self.logs.push_back(new LoggedAccess[std::size_t{kLanes} * kLoggedAccesses]);
    warp.logs = self.logs.back();
    self.logs.pop_back();
  }
  Thread& thread = block[number];
  thread.stack = stack;
  thread.log = warp.logs + number % kLanes;
  thread.state = State::running;
  bring_in(self, block);
  self.thread = number;
}

void finish_thread(Worker& self);

/// What every fiber runs: a kernel's thread, and then the next that has not begun, on the same
/// stack.
void run_threads();

Block* with_fresh_thread(Cluster& cluster) {
  for (const auto& block : cluster.blocks)
    if (block->has_fresh()) return block.get();
  return nullptr;
}

void happen_one(Worker& self, Cluster& cluster) {
  std::size_t which = 0;
  if (self.launch.options.completion == SimCompletion::random)
    which = self.random_below(static_cast<std::uint32_t>(cluster.pending.size()));
  const PendingWork work = std::move(cluster.pending[which]);
  cluster.pending.erase(cluster.pending.begin() + static_cast<std::ptrdiff_t>(which));
  work.happen();
  note_progress();
}

/// The threads that wait for memory run again if anything has changed, or a few times in any case.
bool wake_yielded(Worker& self, Cluster& cluster) {
  if (cluster.yielded.empty()) return false;
  const std::uint64_t progress = self.launch.progress.load(std::memory_order_relaxed);
  bool is_patient = progress != cluster.progress_seen;
  for (const Runnable& waiting : cluster.yielded)
    is_patient |= (*waiting.block)[waiting.thread].spins < kSpinsBeforeStuck;
  if (!is_patient) return false;
  cluster.progress_seen = progress;
  for (const Runnable& waiting : cluster.yielded) {
    (*waiting.block)[waiting.thread].state = State::ready;
    cluster.ready.push(waiting);
  }
  cluster.yielded.clear();
  return true;
}

/// A thread that can run, of random ones any; no block: none is ready or fresh.
Runnable pick_ready(Worker& self, Cluster& cluster, bool is_random) {
  Block* const fresh = with_fresh_thread(cluster);
  if (!cluster.ready.empty() && !(is_random && fresh != nullptr && self.random_below(4) == 0)) {
    if (is_random)
      cluster.ready.bring_forward(
          self.random_below(static_cast<std::uint32_t>(cluster.ready.size())));
    return cluster.ready.pop();
  }
  return fresh != nullptr ? fresh->take_fresh() : Runnable{nullptr, 0};
}

/// The next thread to run where chance has a say or none is ready.
[[gnu::noinline]] Runnable pick_other(Worker& self, Cluster& cluster) {
  const SimOptions& options = self.launch.options;
  const bool is_random = options.order == SimOrder::random;
  const bool completes_at_random = options.completion == SimCompletion::random;
  for (;;) {
    if (completes_at_random && !cluster.pending.empty() && self.random_below(8) == 0)
      happen_one(self, cluster);
    const Runnable next = pick_ready(self, cluster, is_random);
    if (next.block != nullptr) return next;
    if (!cluster.pending.empty())
      happen_one(self, cluster);
    else if (!wake_yielded(self, cluster))
      return {nullptr, 0};
  }
}

/// The next thread to run of the cluster; no block: none can.
inline Runnable pick(Worker& self, Cluster& cluster) {
  if (!self.plays_dice && !cluster.ready.empty()) return cluster.ready.pop();
  return pick_other(self, cluster);
}

void look_for_progress(Worker& self) {
  const std::uint64_t switches = self.counters[SimCounter::fiber_switches];
  const std::uint64_t progress = self.launch.progress.load(std::memory_order_relaxed);
  self.next_look = switches + kSwitchesBetweenLooks;
  if (progress != self.progress_seen) {
    self.progress_seen = progress;
    self.switches_at_progress = switches;
  }
  self.is_livelocked = switches - self.switches_at_progress > kMostSwitchesWithoutProgress;
}

}  // namespace

void switch_otherwise(Worker& self, Runnable next, void** save) {
  if (next.block == nullptr) return rooftile_sim_switch(save, self.host_stack_pointer);
  if (self.counters[SimCounter::fiber_switches] >= self.next_look) look_for_progress(self);
  if (self.is_livelocked) return rooftile_sim_switch(save, self.host_stack_pointer);
  Thread& thread = (*next.block)[next.thread];
  if (thread.state == State::fresh) {
    std::uint8_t* stack = self.stacks.take();
    begin_thread(self, *next.block, next.thread, stack);
    return rooftile_sim_switch(save, first_stack_pointer(stack, run_threads));
  }
  bring_in(self, *next.block);
  run_on(self, next.thread, thread, save);
}

namespace {

void run_threads() {
  for (;;) {
    Worker& self = *worker();
    self.launch.call(self.launch.args);
    std::uint8_t* stack = self.current().stack;
    finish_thread(self);
    const Runnable next = pick(self, *self.cluster);
    if (next.block != nullptr && (*next.block)[next.thread].state == State::fresh) {
      begin_thread(self, *next.block, next.thread, stack);
      continue;
    }
    self.stacks.give(stack);
    void* nowhere = nullptr;
    switch_to(self, next, &nowhere);
  }
}

}  // namespace

std::uint32_t Worker::random_below(std::uint32_t bound) {
  random = random * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
  return static_cast<std::uint32_t>((random >> 33) % bound);
}

void block_thread_otherwise(Worker& self) {
  if (self.owes_progress) note_progress();
  if (self.current().state == State::yielded)
    self.cluster->yielded.push_back({self.block, static_cast<std::uint16_t>(self.thread)});
  run_next(self, pick(self, *self.cluster));
}

void block_thread(State why, std::uint32_t detail, std::uint32_t more) {
  block_current(*this_fiber()->worker, why, detail, more);
}

namespace {

inline void note_ready(Thread& thread) {
  thread.state = State::ready;
  thread.spins = 0;
}

}  // namespace

void make_ready(Block& block, int thread) {
  note_ready(block[thread]);
  block.cluster->ready.push({&block, static_cast<std::uint16_t>(thread)});
}

void make_lanes_ready(Block& block, int warp, std::uint32_t lanes, Turn turn) {
  const int first = warp * kLanes;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1)
    note_ready(block[first + std::countr_zero(left)]);
  if (lanes == 0) return;
  ReadyQueue& ready = block.cluster->ready;
  const Runnable of{&block, static_cast<std::uint16_t>(first)};
  if (block.worker.plays_dice) {  // which picks one of them all
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      ready.push({&block, static_cast<std::uint16_t>(first + std::countr_zero(left))});
  } else if (turn == Turn::next) {
    ready.push_lanes_front(of, lanes);
  } else {
    ready.push_lanes(of, lanes);
  }
}

void note_progress() {
  Worker& self = *worker();
  self.owes_progress = false;
  self.launch.progress.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t issue(Block& block, std::function<void()> happen) {
  Cluster& cluster = *block.cluster;
  const std::uint64_t serial = cluster.next_serial++;
  if (worker()->launch.options.completion == SimCompletion::early)
    happen();
  else
    cluster.pending.push_back({&block, serial, std::move(happen)});
  return serial;
}

void finish_pending(Block& block, const std::function<bool(std::uint64_t)>& which) {
  std::vector<PendingWork>& pending = block.cluster->pending;
  for (std::size_t i = 0; i < pending.size();) {
    if (pending[i].block != &block || !which(pending[i].serial)) {
      ++i;
      continue;
    }
    const PendingWork work = std::move(pending[i]);
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    work.happen();
    i = 0;  // what happened may have issued more
  }
}

void abandon() {
  worker()->launch.is_over = true;
  void* nowhere = nullptr;
  rooftile_sim_switch(&nowhere, worker()->host_stack_pointer);
  __builtin_unreachable();
}

namespace {

void end_block(Worker& self, Block& block) {
  end_engines(block);
  end_remote_accesses(block);
  self.counters[SimCounter::blocks] += 1;
  self.counters[SimCounter::threads] += static_cast<std::uint64_t>(block.thread_count);
  note_progress();
}

void finish_thread(Worker& self) {
  Block& block = *self.block;
  block[self.thread].state = State::done;
  if (self.owes_progress) note_progress();
  Warp& warp = block.warps[static_cast<std::size_t>(self.thread / kLanes)];
  warp.live &= ~(1u << self.thread % kLanes);
  if (warp.live == 0) {
    flush_warp(block, self.thread / kLanes);
    self.logs.push_back(warp.logs);
    warp.logs = nullptr;
  } else if (warp.gathering_count != 0) {
    thread_left_warp(block, self.thread / kLanes);
  }
  --block.live;
  thread_left_barrier(block);
  thread_left_cluster(block, block[self.thread]);
  if (block.live == 0) end_block(self, block);
}

std::unique_ptr<Cluster> make_cluster(Worker& self) {
  std::unique_ptr<Cluster> cluster;
  if (!self.spare.empty()) {
    cluster = std::move(self.spare.back());
    self.spare.pop_back();
  } else {
    cluster = std::make_unique<Cluster>();
    for (std::uint64_t i = 0; i < self.launch.shape.cluster.count(); ++i)
      cluster->blocks.push_back(std::make_unique<Block>(self));
  }
  cluster->ready.clear();
  cluster->yielded.clear();
  cluster->pending.clear();
  cluster->barrier_arrived = 0;
  cluster->barrier_phase = 0;
  cluster->barrier_waiting.clear();
  cluster->barrier_known = {};
  cluster->is_stuck = false;
  return cluster;
}

/// Starts the next cluster of the grid, where there is one and room for it.
bool start_next(Worker& self) {
  Launch& launch = self.launch;
  const std::uint64_t size = launch.shape.cluster.count();
  if (launch.resident.load() + size > std::max(launch.resident_blocks, size)) return false;
  const std::uint64_t next = launch.next_cluster.fetch_add(1);
  if (next >= launch.clusters) return false;
  launch.resident += size;
  const std::uint64_t number = launch.cluster_at(next);
  const Extent3& grid = launch.shape.grid;
  const Extent3& extent = launch.shape.cluster;
  const Extent3 clusters{grid.x / extent.x, grid.y / extent.y, grid.z / extent.z};
  const Coordinates first = at(number, clusters);
  std::unique_ptr<Cluster> cluster = make_cluster(self);
  self.random = launch.options.seed * 0x9e3779b97f4a7c15u + number * 2 + 1;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const Coordinates within = at(rank, extent);
    const Coordinates index{first.x * extent.x + within.x, first.y * extent.y + within.y,
                            first.z * extent.z + within.z};
    const auto block = static_cast<std::uint32_t>(
        index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z));
    cluster->blocks[rank]->start(*cluster, rank, block, index);
  }
  self.resident.push_back(std::move(cluster));
  return true;
}

/// Puts the cluster's blocks, logs and stacks back, whatever state they are in.
void recycle(Worker& self, std::size_t which) {
  std::unique_ptr<Cluster> cluster = std::move(self.resident[which]);
  self.resident.erase(self.resident.begin() + static_cast<std::ptrdiff_t>(which));
  bool was_here = false;
  for (const auto& block : cluster->blocks) {
    for (int t = 0; t < block->thread_count; ++t)
      if ((*block)[t].state != State::done && (*block)[t].state != State::fresh)
        self.stacks.give((*block)[t].stack);
    for (int w = 0; w < block->warp_count(); ++w) {
      Warp& warp = block->warps[static_cast<std::size_t>(w)];
      if (warp.logs == nullptr) continue;
      // Of a launch that was stopped, whose other blocks are gone, nothing is counted.
      if (self.block != nullptr) flush_warp(*block, w);
      warp.logged = 0;
      self.logs.push_back(warp.logs);
      warp.logs = nullptr;
    }
    was_here |= self.block == block.get();
  }
  // Not before: joining accesses asks whose shared memory they were to.
  if (was_here) self.block = nullptr;
  self.launch.resident -= cluster->blocks.size();
  note_progress();
  self.spare.push_back(std::move(cluster));
}

/// Runs the cluster until its threads have returned or none can run.
void run_cluster(Worker& self, Cluster& cluster) {
  self.cluster = &cluster;
  const Runnable next = pick(self, cluster);
  if (next.block != nullptr) switch_to(self, next, &self.host_stack_pointer);
  while (!self.is_livelocked && !self.launch.is_over.load() && !cluster.pending.empty() &&
         cluster.live() == 0)
    happen_one(self, cluster);
  cluster.is_stuck = !cluster.yielded.empty();
}

}  // namespace

Worker::Worker(Launch& of) : launch(of), memory(GlobalMemory::get()), sites(1024) {
  number = launch.next_worker++;
  row_owner = Shadow::row_owner(launch.serial, number);
  random = launch.options.seed;
  plays_dice = launch.options.order == SimOrder::random ||
               launch.options.completion == SimCompletion::random;
  statics_bytes = 0;
  for (const SharedVariable& variable : launch.module->variables())
    statics_bytes = std::max(statics_bytes, variable.end);
  if (statics_bytes != 0) statics = launch.module->thread_local_storage();
}

Worker::~Worker() {
  for (LoggedAccess* log : logs) delete[] log;
}

std::size_t Worker::next_cluster() {
  for (std::size_t i = resident.size(); i-- > 0;)
    if (!resident[i]->is_stuck) return i;
  if (start_next(*this)) return resident.size() - 1;
  return resident.empty() ? 0 : turn++ % resident.size();
}

/// When every worker only has threads that wait for memory, and has looked at it since it last
/// changed, nobody is left to write it.
bool Worker::all_wait() {
  const std::uint64_t progress = launch.progress.load();
  const bool waits = std::ranges::all_of(resident, [&](const auto& waiting) {
    return waiting->is_stuck && waiting->progress_seen == progress;
  });
  launch.idle_at[number] = waits ? progress : Launch::kWorks;
  if (!waits) return false;
  std::this_thread::yield();
  const bool all_idle = std::ranges::all_of(launch.idle_at, [&](const auto& at) {
    const std::uint64_t seen = at.load();
    return seen == progress || seen == Launch::kIsDone;
  });
  return all_idle && launch.progress == progress;
}

void Worker::stop(Cluster& stopped, bool is_livelock) {
  report_stop(stopped, is_livelock);
  launch.is_over = true;
}

void Worker::run() {
  host_worker = this;
  while (!launch.is_over) {
    const std::size_t which = next_cluster();
    if (resident.empty()) break;
    Cluster& running = *resident[which];
    if (all_wait()) {
      stop(running, true);
      break;
    }
    run_cluster(*this, running);
    if (launch.is_over) break;
    const bool is_finished = running.live() == 0;
    if (!is_finished && is_livelocked) {
      stop(running, true);
    } else if (!is_finished && !running.is_stuck) {
      report_stop(running, false);
      recycle(*this, which);
    } else if (is_finished) {
      recycle(*this, which);
    }
  }
  while (!resident.empty()) recycle(*this, resident.size() - 1);
  launch.idle_at[number] = Launch::kIsDone;  // one that has nothing left writes nothing either
  host_worker = nullptr;
}

}  // namespace rooftile::sim
