// SPDX-License-Identifier: Apache-2.0
// cp.async: a thread's own deferred copies. A copy is written by its warp's engine until the thread
// has waited for it, from then on by the thread: what other threads need is a barrier after the
// wait. They land when they are waited for, or when they are issued (SimCompletion::early; at
// random: some). Source: PTX ISA, "cp.async", "cp.async.wait_group", "cp.async.mbarrier.arrive".
#include "rooftile/device/sim/cp_async.h"

#include <algorithm>
#include <cstring>

#include "rooftile/device/sim/async_copy.h"
#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/mbarrier.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

constexpr const char* kWhat = "cp.async";

CopyGroups& copy_groups_of(Block& block) {
  std::unique_ptr<CopyGroups>& groups = engines_of(block).copy_groups;
  if (groups == nullptr) groups = std::make_unique<CopyGroups>();
  return *groups;
}

CopyGroups::OfThread& current_groups() {
  return copy_groups_of(*worker()->block).threads[static_cast<std::size_t>(worker()->thread)];
}

void land(Block& block, SmallCopy& copy) {
  if (copy.has_landed) return;
  std::uint8_t* to = window_pointer(block, copy.destination);
  std::memset(to, 0, copy.bytes);
  std::memcpy(to, reinterpret_cast<const void*>(copy.source), copy.source_bytes);
  copy.has_landed = true;
}

/// What is done becomes a write by `by`, in the race detector.
void hand_over(std::vector<SmallCopy>& copies, const CopyActor& by) {
  Block& block = *worker()->block;
  const int agent = kFirstCopyAgent + worker()->thread / kLanes;
  for (SmallCopy& copy : copies) {
    land(block, copy);
    if (!worker()->launch.options.check) continue;
    learn_actor(block, worker()->thread, agent, copy.clock);
    check_shared({by.block, by.actor, by.clock, copy.pc}, block, copy.destination, copy.bytes, true,
                 false, true);
  }
  copies.clear();
}

CopyActor current_thread() {
  return {worker()->block, worker()->thread, worker()->current().clock, 0};
}

bool lands_now() {
  switch (worker()->launch.options.completion) {
    case SimCompletion::early:
      return true;
    case SimCompletion::late:
      return false;
    case SimCompletion::random:
      return worker()->random_below(2) == 0;
  }
  return true;
}

void count_issue(CopyGroups& groups, std::uint64_t from, std::uint32_t source_bytes,
                 std::uint32_t bytes, std::uint32_t pc) {
  constexpr std::uint64_t kSector = 32;
  const auto warp = static_cast<std::size_t>(worker()->thread / kLanes);
  const auto lane = static_cast<std::size_t>(worker()->thread % kLanes);
  CopyGroups::Requests& requests = groups.requests[warp][pc];
  const std::size_t number = requests.issued[lane]++;
  if (requests.sectors.size() <= number) requests.sectors.resize(number + 1);
  std::vector<std::uint64_t>& sectors = requests.sectors[number];
  for (std::uint64_t at = from / kSector; at * kSector < from + source_bytes; ++at)
    if (std::ranges::find(sectors, at) == sectors.end()) sectors.push_back(at);
  worker()->counters[SimCounter::cp_async_bytes] += bytes;
}

}  // namespace

void cp_async(void* destination, const void* source, std::uint32_t bytes,
              std::uint32_t source_bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  Block& block = *worker()->block;
  const auto from = reinterpret_cast<std::uint64_t>(source);
  if (source_bytes > bytes)
    refuse_operand(FindingKind::bad_operand, kWhat,
                   std::to_string(source_bytes) + " of " + std::to_string(bytes) + " bytes", pc);
  const SharedPlace to = shared_place(destination, kWhat, pc);
  if (to.owner != &block)
    refuse_operand(FindingKind::bad_operand, kWhat, "the destination is in another block", pc);
  require_aligned(to.address, bytes, kWhat, "the destination", pc);
  require_aligned(from, bytes, kWhat, "the source", pc);
  require_shared(block, to.address, bytes, kWhat, pc);
  require_global(from, source_bytes, false, kWhat, pc);
  CopyGroups& groups = copy_groups_of(block);
  const CopyActor actor{&block, kFirstCopyAgent + worker()->thread / kLanes, current_groups().clock,
                        pc};
  check_shared(actor, block, to.address, bytes, true, false, true);
  check_global(actor, from, source_bytes, false, false, true);
  touch_sectors(from, source_bytes, false);  // lanes share sectors: a request's are not known here
  count_issue(groups, from, source_bytes, bytes, pc);
  SmallCopy copy{from,
                 to.address,
                 actor.clock,
                 pc,
                 static_cast<std::uint8_t>(bytes),
                 static_cast<std::uint8_t>(source_bytes)};
  if (lands_now())
    land(block, copy);
  else
    poison(block, to.address, bytes);
  current_groups().open.push_back(copy);
}

void cp_async_commit() {
  CopyGroups::OfThread& groups = current_groups();
  groups.committed.push_back(std::move(groups.open));
  groups.open.clear();
  ++groups.clock;
}

void cp_async_wait(std::uint32_t pending, bool all) {
  CopyGroups::OfThread& groups = current_groups();
  const std::size_t done =
      groups.committed.size() - std::min<std::size_t>(pending, groups.committed.size());
  for (std::size_t i = 0; i < done; ++i) hand_over(groups.committed[i], current_thread());
  groups.committed.erase(groups.committed.begin(),
                         groups.committed.begin() + static_cast<std::ptrdiff_t>(done));
  if (!all) return;
  hand_over(groups.open, current_thread());
  ++groups.clock;
}

void cp_async_arrive(void* pointer, bool counted) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  Block& block = *worker()->block;
  const SharedPlace place = shared_place(pointer, "cp.async.mbarrier.arrive", pc);
  if (place.owner != &block)
    refuse_operand(FindingKind::bad_operand, "cp.async.mbarrier.arrive",
                   "a barrier of another block", pc);
  MbarrierState& barrier = generic_barrier(block, place.address, "cp.async.mbarrier.arrive", pc);
  if (!counted) ++barrier.pending;
  // From now on the barrier's engine writes them: who reads them waits for the barrier.
  CopyGroups::OfThread& groups = current_groups();
  std::vector<SmallCopy> copies = groups.open;
  for (const std::vector<SmallCopy>& group : groups.committed)
    copies.insert(copies.end(), group.begin(), group.end());
  groups.open.clear();
  groups.committed.clear();
  ++groups.clock;
  const CopyActor agent{&block, barrier.agent, barrier.clock(), pc};
  Knowledge known;
  publish_actor(known, block, agent.actor, agent.clock);
  if (worker()->launch.options.check)
    for (const SmallCopy& copy : copies) {
      learn_actor(block, worker()->thread, kFirstCopyAgent + worker()->thread / kLanes, copy.clock);
      check_shared({&block, agent.actor, agent.clock, copy.pc}, block, copy.destination, copy.bytes,
                   true, false, true);
    }
  const Runnable issuer{&block, static_cast<std::uint16_t>(worker()->thread)};
  issue(block, [&block, &barrier, copies, known, issuer, pc]() mutable {
    for (SmallCopy& copy : copies) land(block, copy);
    arrive_for(block, barrier, known, issuer, pc);
  });
}

void end_copy_groups(Block& block) {
  CopyGroups& groups = copy_groups_of(block);
  const auto complain = [&](const std::vector<SmallCopy>& copies) {
    for (const SmallCopy& copy : copies)
      if (is_new_finding(FindingKind::missing_wait, copy.pc, 0))
        report(FindingKind::missing_wait, copy.pc, 0,
               describe_block(block) + ": a copy with cp.async was never waited for");
  };
  for (const CopyGroups::OfThread& thread : groups.threads) {
    complain(thread.open);
    for (const std::vector<SmallCopy>& group : thread.committed) complain(group);
  }
  // To Nsight Compute they are loads of global memory too.
  for (const auto& warp : groups.requests)
    for (const auto& [pc, requests] : warp)
      for (const std::vector<std::uint64_t>& sectors : requests.sectors) {
        ++worker()->counters[SimCounter::cp_async_requests];
        if (sectors.empty()) continue;
        ++worker()->counters[SimCounter::global_load_requests];
        worker()->counters[SimCounter::global_load_sectors] += sectors.size();
      }
}

}  // namespace rooftile::sim
