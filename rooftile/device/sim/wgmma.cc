// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async, fence, commit_group and wait_group as the threads of a warpgroup execute them.
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#include "rooftile/device/sim/wgmma.h"

#include <algorithm>

#include "rooftile/device/sim/engines.h"

namespace rooftile::sim {
namespace {

constexpr std::size_t lane_of(int thread) {
  return static_cast<std::size_t>(thread % kWarpgroupThreads);
}

/// A block whose last threads are no whole warpgroup cannot use wgmma in them.
bool check_is_whole(const Block& block, int thread, std::uint32_t pc) {
  if ((thread / kWarpgroupThreads + 1) * kWarpgroupThreads <= block.thread_count) return true;
  if (is_new_finding(FindingKind::bad_operand, pc, 0))
    report(FindingKind::bad_operand, pc, 0,
           describe_here() + ": wgmma needs 128 threads, and a block of " +
               std::to_string(block.thread_count) + " has no whole warpgroup " +
               std::to_string(thread / kWarpgroupThreads));
  return false;
}

/// From here on the thread's accesses of its stack are looked at.
void watch(Warpgroup& group, int thread) {
  fiber_of((*group.block)[thread].stack).watch = &group.watches[lane_of(thread)];
  registers_are_watched.store(true, std::memory_order_relaxed);
}

void wake(Warpgroup& group) {
  for (const int thread : group.waiting) make_ready(*group.block, thread);
  group.waiting.clear();
  note_progress();
}

/// All of its threads have executed it: from here on it can happen.
void start(Warpgroup& group, std::uint64_t number) {
  WgmmaOperation& operation = group.operation(number);
  SimCounters& counters = worker()->counters;
  const WgmmaForm& form = operation.form;
  const auto multiply_adds =
      static_cast<std::uint64_t>(kWgmmaRows * form.n) * static_cast<std::uint64_t>(form.k);
  counters[SimCounter::wgmma_instructions] += 1;
  counters[SimCounter::wgmma_multiply_adds] += multiply_adds;
  counters[SimCounter::wgmma_shared_bytes] +=
      static_cast<std::uint64_t>(32 * (form.n + (operation.is_a_shared ? kWgmmaRows : 0)));
  Warpgroup* const of = &group;
  operation.serial = issue(*group.block, [of, number] { happen_until(*of, number); });
  if (!group.waiting.empty()) wake(group);
}

/// Whether all that belongs to the first `groups` groups was executed by all threads.
bool is_complete(const Warpgroup& group, std::uint32_t groups) {
  return std::all_of(group.operations.begin(), group.operations.end(),
                     [&](const WgmmaOperation& operation) {
                       return operation.group >= groups || operation.arrived == kWarpgroupThreads;
                     });
}

/// The work of the first `groups` groups happens, if it has not.
void finish(Warpgroup& group, std::uint32_t groups) {
  const auto is_due = [&](const WgmmaOperation& operation) {
    return operation.group < groups && !operation.has_happened;
  };
  if (std::none_of(group.operations.begin(), group.operations.end(), is_due)) return;
  finish_pending(*group.block, [&](std::uint64_t serial) {
    return std::any_of(group.operations.begin(), group.operations.end(),
                       [&](const WgmmaOperation& operation) {
                         return is_due(operation) && operation.serial == serial;
                       });
  });
}

void report_partial(const Warpgroup& group, const WgmmaOperation& operation) {
  if (!is_new_finding(FindingKind::divergence, operation.pc, 0)) return;
  report(FindingKind::divergence, operation.pc, 0,
         describe_block(*group.block) + ": wgmma of warpgroup " + std::to_string(group.number) +
             " at " + source_line(operation.pc) + " executed by " +
             std::to_string(operation.arrived) + " of its 128 threads");
}

/// Operations that every thread has waited for are forgotten.
void retire(Warpgroup& group, int thread, std::uint32_t groups) {
  std::uint64_t& waited = group.waited[lane_of(thread)];
  const std::uint64_t end = group.first_operation + group.operations.size();
  for (; waited < end && group.operation(waited).group < groups; ++waited)
    ++group.operation(waited).waited;
  while (!group.operations.empty() && group.operations.front().waited == kWarpgroupThreads) {
    group.operations.pop_front();
    ++group.first_operation;
  }
}

}  // namespace

Warpgroup& warpgroup_of(Block& block, int thread) {
  const int number = thread / kWarpgroupThreads;
  std::unique_ptr<Warpgroup>& group =
      engines_of(block).wgmma.groups[static_cast<std::size_t>(number)];
  if (group == nullptr) {
    group = std::make_unique<Warpgroup>();
    group->block = &block;
    group->number = number;
  }
  return *group;
}

void wgmma(const WgmmaForm& form, void* d, const std::uint32_t* a_registers, std::uint64_t a,
           std::uint64_t b, bool accumulate) {
  Block& block = *worker()->block;
  const int thread = worker()->thread;
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  if (!check_is_whole(block, thread, pc)) return;
  Warpgroup& group = warpgroup_of(block, thread);
  watch(group, thread);
  const std::size_t lane = lane_of(thread);
  const std::uint64_t number = group.issued[lane]++;
  WgmmaOperation mine{.form = form,
                      .a = a,
                      .b = b,
                      .accumulate = accumulate,
                      .is_a_shared = a_registers == nullptr,
                      .pc = pc,
                      .group = group.committed[lane]};
  if (number == group.first_operation + group.operations.size()) {
    check_descriptors(mine);
    group.operations.push_back(std::move(mine));
  } else if (!check_uniform(group, group.operation(number), mine, thread)) {
    if (++group.operation(number).arrived == kWarpgroupThreads) start(group, number);
    return;
  }
  WgmmaOperation& operation = group.operation(number);
  check_registers(group, operation, thread, d, a_registers);
  take_registers(group, operation, thread, d);
  if (a_registers != nullptr) {
    operation.a_registers.resize(4 * kWarpgroupThreads);
    std::copy_n(a_registers, 4,
                operation.a_registers.begin() + static_cast<std::ptrdiff_t>(4 * lane));
    group.watches[lane].in_flight().push_back(
        {.begin = reinterpret_cast<std::uint64_t>(a_registers),
         .end = reinterpret_cast<std::uint64_t>(a_registers + 4),
         .last_group = operation.group,
         .pc = pc});
  }
  // Why the last lane: where one lane waits for all others, it is usually the first.
  if (thread % kLanes == kLanes - 1) check_reads(group, operation, thread);
  if (++operation.arrived == kWarpgroupThreads) start(group, number);
}

void wgmma_fence() {
  Block& block = *worker()->block;
  const int thread = worker()->thread;
  if (!check_is_whole(block, thread, ROOFTILE_SIM_PC)) return;
  Warpgroup& group = warpgroup_of(block, thread);
  watch(group, thread);
  group.watches[lane_of(thread)].fence();
}

void wgmma_commit_group() {
  Block& block = *worker()->block;
  if (!check_is_whole(block, worker()->thread, ROOFTILE_SIM_PC)) return;
  ++warpgroup_of(block, worker()->thread).committed[lane_of(worker()->thread)];
}

void wgmma_wait_group(int still_in_flight) {
  Block& block = *worker()->block;
  const int thread = worker()->thread;
  if (!check_is_whole(block, thread, ROOFTILE_SIM_PC)) return;
  Warpgroup& group = warpgroup_of(block, thread);
  const std::uint32_t committed = group.committed[lane_of(thread)];
  const std::uint32_t groups =
      committed - std::min(static_cast<std::uint32_t>(still_in_flight), committed);
  while (!is_complete(group, groups)) {
    group.waiting.push_back(thread);
    block_thread(State::engine);
  }
  finish(group, groups);
  give_registers(group, thread, groups);
  retire(group, thread, groups);
  if (groups != 0) learn_actor(block, thread, group.actor(), groups);
}

void end_wgmma(WgmmaEngine& engine) {
  for (const auto& group : engine.groups) {
    if (group == nullptr) continue;
    for (const WgmmaOperation& operation : group->operations) {
      if (operation.arrived != kWarpgroupThreads) report_partial(*group, operation);
      if (operation.arrived != kWarpgroupThreads ||
          !is_new_finding(FindingKind::missing_wait, operation.pc, 0))
        continue;
      report(FindingKind::missing_wait, operation.pc, 0,
             describe_block(*group->block) + ": " +
                 std::to_string(kWarpgroupThreads - operation.waited) + " threads of warpgroup " +
                 std::to_string(group->number) + " end without wgmma.wait_group for the wgmma at " +
                 source_line(operation.pc));
    }
  }
}

void stop_wgmma(WgmmaEngine& engine) {
  for (const auto& group : engine.groups) {
    if (group == nullptr) continue;
    for (const WgmmaOperation& operation : group->operations)
      if (operation.arrived != kWarpgroupThreads) report_partial(*group, operation);
  }
}

}  // namespace rooftile::sim
