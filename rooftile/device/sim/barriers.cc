// SPDX-License-Identifier: Apache-2.0
// __syncthreads, named barriers, and the barrier of a cluster. Source: PTX ISA, "bar, barrier" and
// "barrier.cluster".
#include <algorithm>

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

/// What engines did, of which any of the block's threads knows, becomes known to `threads`.
void share_engines(Block& block, const std::vector<std::uint16_t>& threads) {
  std::array<std::uint32_t, kActors - kMaxThreads> known{};
  for (int t = 0; t < block.thread_count; ++t)
    if (const std::uint32_t* actors = block[t].actors; actors != nullptr)
      for (std::size_t i = 0; i < known.size(); ++i)
        known[i] = std::max(known[i], actors[kMaxThreads + i]);
  for (const std::uint16_t t : threads) {
    if (block[t].actors == nullptr) block[t].actors = block.new_actors();
    std::copy(known.begin(), known.end(), block[t].actors + kMaxThreads);
  }
}

void share_foreign(Block& block, const std::vector<std::uint16_t>& threads) {
  SharedKnowledge all;
  for (const std::uint16_t t : threads) {
    const SharedKnowledge& one = block[t].foreign;
    if (one == nullptr || one == all) continue;
    if (all == nullptr)
      all = one;
    else
      own(all).join(*one);
  }
  if (all == nullptr) return;
  for (const std::uint16_t t : threads) block[t].foreign = all;
}

void complete_block_barrier(Block& block, BlockVote kind) {
  ++worker()->counters[SimCounter::block_barriers];
  note_progress();
  for (int w = 0; w < block.warp_count(); ++w) {
    block.warps[static_cast<std::size_t>(w)].sync_lanes = 0;
    flush_warp(block, w);
  }
  join_threads(block, block.barrier_waiting);
  const int votes = block.barrier_votes;
  block.barrier_result = kind == BlockVote::all   ? static_cast<int>(votes == block.barrier_arrived)
                         : kind == BlockVote::any ? static_cast<int>(votes != 0)
                                                  : votes;
  block.barrier_arrived = block.barrier_votes = 0;
}

/// The lanes of a warp execute the same __syncthreads(), in one place of the source: the compiler
/// may have made several of one.
void check_lanes(Block& block, int thread, std::uint32_t pc) {
  Warp& warp = block.warps[static_cast<std::size_t>(thread / kLanes)];
  if (warp.sync_lanes == 0) warp.sync_pc = pc;
  warp.sync_lanes |= 1u << thread % kLanes;
  if (pc == warp.sync_pc || !is_new_finding(FindingKind::divergence, pc, warp.sync_pc)) return;
  const std::string other = source_line(warp.sync_pc);
  if (source_line(pc) == other) return;
  report(FindingKind::divergence, pc, warp.sync_pc,
         describe_here() + " executes another __syncthreads() than lanes of its warp, at " + other);
}

[[gnu::cold, gnu::noinline]] void report_barrier_0(std::uint32_t pc) {
  report(FindingKind::barrier_misuse, pc, 2,
         describe_here() + ": some threads are at barrier 0 by its number, others at " +
             "__syncthreads(), which is barrier 0 as well");
}

void release_waiting(Block& block, int except) {
  for (const std::uint16_t t : block.barrier_waiting)
    if (t != except) make_ready(block, t);
  block.barrier_waiting.clear();
}

}  // namespace

void join_threads(Block& block, const std::vector<std::uint16_t>& threads) {
  const std::uint32_t now = block.latest_clock++;
  if (block.has_actors) share_engines(block, threads);
  if (block.has_foreign) share_foreign(block, threads);
  join_fences(block, threads, now);
  for (const std::uint16_t t : threads) {
    Thread& thread = block[t];
    thread.floor = now;
    thread.clock = now + 1;
  }
}

int sync_block(BlockVote kind, int predicate) {
  Block& block = *worker()->block;
  const int me = worker()->thread;
  check_lanes(block, me, ROOFTILE_SIM_PC);
  if (block.named[0].arrived != 0) report_barrier_0(ROOFTILE_SIM_PC);
  block.barrier_waiting.push_back(static_cast<std::uint16_t>(me));
  block.barrier_votes += predicate != 0 ? 1 : 0;
  if (++block.barrier_arrived < block.live) {
    block_thread(State::block_barrier, static_cast<std::uint32_t>(kind));
    return block.barrier_result;
  }
  complete_block_barrier(block, kind);
  release_waiting(block, me);
  return block.barrier_result;
}

void thread_left_barrier(Block& block) {
  if (block.barrier_arrived == 0 || block.barrier_arrived != block.live) return;
  const Thread& first = block[block.barrier_waiting.front()];
  complete_block_barrier(block, static_cast<BlockVote>(first.wait[0]));
  release_waiting(block, -1);
}

namespace {

/// True when this arrival completes the barrier.
bool arrive_named(Block& block, int id, int threads, std::uint32_t pc) {
  if (id < 0 || id >= kNamedBarriers) {
    report(FindingKind::barrier_misuse, pc, 0,
           describe_here() + ": barrier " + std::to_string(id) + " is not in 0 to 15");
    abandon();
  }
  if (id == 0 && block.barrier_arrived != 0) report_barrier_0(pc);
  NamedBarrier& barrier = block.named[static_cast<std::size_t>(id)];
  const bool is_first = barrier.arrived == 0;
  if (threads <= 0 || threads % kLanes != 0)
    report(FindingKind::barrier_misuse, pc, 0,
           describe_here() + ": barrier " + std::to_string(id) + " for " + std::to_string(threads) +
               " threads, which must be a multiple of 32");
  if (!is_first && barrier.expected != threads)
    report(FindingKind::barrier_misuse, pc, 1,
           describe_here() + ": barrier " + std::to_string(id) + " for " + std::to_string(threads) +
               " threads, others came with " + std::to_string(barrier.expected));
  barrier.expected = threads;
  publish(barrier.known, block, worker()->thread);
  if (++barrier.arrived < threads) return false;
  ++worker()->counters[SimCounter::named_barriers];
  note_progress();
  for (const std::uint16_t t : barrier.waiting) {
    learn(block, t, barrier.known);
    make_ready(block, t);
  }
  return true;
}

void reset(NamedBarrier& barrier) { barrier = NamedBarrier{}; }

}  // namespace

void named_barrier_sync(int id, int threads) {
  Block& block = *worker()->block;
  if (!arrive_named(block, id, threads, ROOFTILE_SIM_PC)) {
    block.named[static_cast<std::size_t>(id)].waiting.push_back(
        static_cast<std::uint16_t>(worker()->thread));
    block_thread(State::named_barrier, static_cast<std::uint32_t>(id));
    return;
  }
  NamedBarrier& barrier = block.named[static_cast<std::size_t>(id)];
  learn(block, worker()->thread, barrier.known);
  reset(barrier);
}

void named_barrier_arrive(int id, int threads) {
  Block& block = *worker()->block;
  if (arrive_named(block, id, threads, ROOFTILE_SIM_PC))
    reset(block.named[static_cast<std::size_t>(id)]);
}

namespace {

/// Ends the phase when all threads that have not returned have arrived.
void update_cluster_barrier(Cluster& cluster) {
  if (cluster.barrier_arrived == 0 || cluster.barrier_arrived < cluster.live()) return;
  ++worker()->counters[SimCounter::cluster_barriers];
  note_progress();
  ++cluster.barrier_phase;
  cluster.barrier_arrived = 0;
  cluster.barrier_done = std::move(cluster.barrier_known);
  cluster.barrier_known = {};
  for (const Runnable& waiting : cluster.barrier_waiting) {
    learn(*waiting.block, waiting.thread, cluster.barrier_done);
    make_ready(*waiting.block, waiting.thread);
  }
  cluster.barrier_waiting.clear();
}

}  // namespace

void cluster_arrive(bool releases) {
  Cluster& cluster = *worker()->cluster;
  Thread& thread = worker()->current();
  if (thread.cluster_arrivals != thread.cluster_waits)
    report(FindingKind::barrier_misuse, ROOFTILE_SIM_PC, 0,
           describe_here() + " arrives at the cluster's barrier again without a wait in between");
  if (releases) publish(cluster.barrier_known, *worker()->block, worker()->thread);
  thread.cluster_arrivals = cluster.barrier_phase + 1;
  ++cluster.barrier_arrived;
  update_cluster_barrier(cluster);
}

void thread_left_cluster(Block& block, const Thread& thread) {
  Cluster& cluster = *block.cluster;
  if (thread.cluster_arrivals > cluster.barrier_phase) --cluster.barrier_arrived;
  update_cluster_barrier(cluster);
}

void cluster_wait() {
  Cluster& cluster = *worker()->cluster;
  Block& block = *worker()->block;
  Thread& thread = worker()->current();
  if (thread.cluster_waits == thread.cluster_arrivals)
    report(FindingKind::barrier_misuse, ROOFTILE_SIM_PC, 0,
           describe_here() + " waits at the cluster's barrier without having arrived there");
  thread.cluster_waits = thread.cluster_arrivals;
  if (thread.cluster_arrivals > cluster.barrier_phase) {
    cluster.barrier_waiting.push_back({&block, static_cast<std::uint16_t>(worker()->thread)});
    block_thread(State::cluster_barrier);
  } else {
    learn(block, worker()->thread, cluster.barrier_done);
  }
  block.has_met_cluster = true;
}

}  // namespace rooftile::sim
