// SPDX-License-Identifier: Apache-2.0
// What the threads wait for that stop a launch.
#include <cstdio>
#include <map>

#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

std::string waiting_for(Block& block, const Thread& thread) {
  switch (thread.state) {
    case State::block_barrier:
      return "__syncthreads()";
    case State::named_barrier: {
      const NamedBarrier& barrier = block.named[thread.wait[0]];
      return "named barrier " + std::to_string(thread.wait[0]) + " (" +
             std::to_string(barrier.arrived) + " of " + std::to_string(barrier.expected) +
             " threads have arrived)";
    }
    case State::warp: {
      std::array<char, 64> text{};
      std::snprintf(text.data(), text.size(), "a warp operation of lanes 0x%08x", thread.wait[0]);
      return text.data();
    }
    case State::mbarrier: {
      const auto at = reinterpret_cast<std::uint64_t>(window_pointer(block, thread.wait[0]));
      return "the mbarrier at " + describe_shared(block, at) + ", parity " +
             std::to_string(thread.wait[1]);
    }
    case State::engine:
      return "an asynchronous operation";
    case State::cluster_barrier:
      return "the cluster's barrier";
    case State::yielded:
      return "memory that nobody writes";
    default:
      return "nothing: they run";
  }
}

std::string describe_threads(Cluster& cluster) {
  std::string text;
  for (const auto& block : cluster.blocks) {
    std::map<std::string, std::vector<int>> waiting;
    for (int t = 0; t < block->thread_count; ++t)
      if ((*block)[t].state != State::done && (*block)[t].state != State::fresh)
        waiting[waiting_for(*block, (*block)[t])].push_back(t);
    for (const auto& [what, threads] : waiting)
      text += "\n    " + describe_block(*block) + ": " + std::to_string(threads.size()) +
              " threads (first " + std::to_string(threads.front()) + ") wait for " + what;
    text += describe_engines(*block);
  }
  return text;
}

}  // namespace

void report_stop(Cluster& cluster, bool is_livelock) {
  report(is_livelock ? FindingKind::livelock : FindingKind::deadlock, 0, 0,
         std::string(is_livelock ? "threads run, and nothing changes:" : "no thread can run on:") +
             describe_threads(cluster));
}

}  // namespace rooftile::sim
