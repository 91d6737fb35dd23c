// SPDX-License-Identifier: Apache-2.0
// How long shared memory lasts that other blocks of a cluster access: from when its block has
// begun, which the cluster's barrier says or what else the accessing block has learned of it, until
// it has ended. Who accesses it must have been waited for by then: at the cluster's barrier, even a
// relaxed one, or by whatever else orders the access before the end of a thread of that block. A
// copy into another block is waited for there, with what it writes; that it has read its source,
// the block that issued it must learn from that one. Source: CUDA C++ Programming Guide,
// "Distributed Shared Memory".
#include <algorithm>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/mbarrier.h"

namespace rooftile::sim {
namespace {

bool has_begun(const Block& owner, const Block& observer, const Thread& thread) {
  if (observer.has_met_cluster) return true;
  const std::uint32_t number = owner.number % Epoch::kBlocks;
  return thread.foreign != nullptr &&
         (thread.foreign->find(number) != nullptr ||
          thread.foreign->find(Knowledge::key(number, Reach::over)) != nullptr);
}

Block& block_of(const Cluster& cluster, std::uint32_t number) {
  return **std::ranges::find_if(cluster.blocks,
                                [&](const auto& block) { return block->number == number; });
}

bool waits_for(Block& block, std::uint32_t other, const RemoteAccess& access) {
  const int actor = access.when.actor();
  const bool can_meet = actor < kMaxThreads || has_waited_for_copy(block_of(*block.cluster, other),
                                                                   actor, access.when.clock());
  for (int t = 0; t < block.thread_count; ++t)
    if ((can_meet && block[t].cluster_waits > access.cluster_arrivals) ||
        is_ordered(block, block[t], t, access.when, Reach::over))
      return true;
  return false;
}

}  // namespace

void note_remote_access(const AccessCheck& access, Block& owner, std::uint64_t address) {
  Block& observer = *access.observer;
  if (owner.live == 0) {
    if (is_new_finding(FindingKind::out_of_bounds, access.pc, 0))
      report(FindingKind::out_of_bounds, access.pc, 0,
             describe_actor(observer, access.thread) + " accesses " +
                 describe_shared(owner, address) + " of " + describe_block(owner) +
                 ", which has ended");
    return;
  }
  if (!has_begun(owner, observer, observer[access.thread]) &&
      is_new_finding(FindingKind::race, access.pc, 3))
    report(FindingKind::race, access.pc, 3,
           describe_actor(observer, access.thread) + " accesses " +
               describe_shared(owner, address) + " of " + describe_block(owner) +
               ", which may not have begun: nothing, such as the cluster's barrier, comes before");
  if (access.is_of_copy) return;
  owner.has_remote_writes |= access.is_write;
  const Epoch when =
      Epoch::make(observer.worker.launch.serial, observer.number, access.thread, access.clock);
  owner.remote[{observer.number, access.thread}] = {when, observer[access.thread].cluster_arrivals,
                                                    access.pc, window_address(owner, address)};
}

void note_copy_source(const Block& to, int agent, std::uint32_t clock, std::uint32_t address,
                      std::uint32_t pc) {
  Block& block = *worker()->block;
  const Epoch when = Epoch::make(block.worker.launch.serial, to.number, agent, clock);
  block.remote[{to.number, agent}] = {when, worker()->current().cluster_arrivals, pc, address};
}

void end_remote_accesses(Block& block) {
  for (const auto& [who, access] : block.remote) {
    if (waits_for(block, who.first, access)) continue;
    if (!is_new_finding(FindingKind::out_of_bounds, access.pc, 0)) continue;
    const auto place = reinterpret_cast<std::uint64_t>(window_pointer(block, access.address));
    report(FindingKind::out_of_bounds, access.pc, 0,
           describe_actor(block_of(*block.cluster, who.first), who.second) + " accesses " +
               describe_shared(block, place) + " of " + describe_block(block) +
               ", which may have ended by then: it waits for nothing that comes after the access");
  }
}

}  // namespace rooftile::sim
