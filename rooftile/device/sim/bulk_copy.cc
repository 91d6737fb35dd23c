// SPDX-License-Identifier: Apache-2.0
// Copies and reductions of bytes. Source: PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk",
// "st.async".
#include <array>
#include <cstring>

#include "rooftile/device/sim/async_copy.h"
#include "rooftile/device/sim/bulk_groups.h"
#include "rooftile/device/sim/mbarrier.h"
#include "rooftile/device/sim/reduction.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kBulkAlignment = 16;

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void require_bulk_size(std::uint32_t bytes, const char* what, std::uint32_t pc) {
  if (bytes % kBulkAlignment != 0)
    refuse_operand(FindingKind::bad_operand, what,
                   "a size of " + std::to_string(bytes) + " bytes is no multiple of 16", pc);
}

/// A range of the own or another block's shared memory.
SharedPlace bulk_place(const void* pointer, std::uint32_t bytes, const char* what,
                       const char* operand, std::uint32_t pc) {
  const SharedPlace place = shared_place(pointer, what, pc);
  require_aligned(place.address, kBulkAlignment, what, operand, pc);
  require_shared(*place.owner, place.address, bytes, what, pc);
  return place;
}

SharedPlace own_source(const void* pointer, std::uint32_t bytes, const char* what,
                       std::uint32_t pc) {
  const SharedPlace place = bulk_place(pointer, bytes, what, "the source", pc);
  if (place.owner != worker()->block)
    refuse_operand(FindingKind::bad_operand, what, "the source is in another block's shared memory",
                   pc);
  return place;
}

void require_global_range(const void* pointer, std::uint32_t bytes, bool is_write, const char* what,
                          std::uint32_t pc) {
  require_aligned(number(pointer), kBulkAlignment, what, "the address in global memory", pc);
  require_global(number(pointer), bytes, is_write, what, pc);
}

void load_into(Block& owner, std::uint32_t address, const void* source, std::uint32_t bytes,
               std::uint32_t barrier, std::uint32_t pc) {
  const char* const what = "bulk load";
  require_shared(owner, address, bytes, what, pc);
  const Transaction transaction = begin_transaction(owner, barrier, what, pc);
  const CopyActor actor{&owner, transaction.barrier->agent, transaction.clock, pc};
  check_shared(actor, owner, address, bytes, true);
  check_global(actor, number(source), bytes, false);
  poison(owner, address, bytes);
  worker()->counters[SimCounter::bulk_bytes] += bytes;
  issue(*worker()->block, [&owner, address, source, bytes, transaction] {
    std::memcpy(window_pointer(owner, address), source, bytes);
    complete_transaction(transaction, bytes);
  });
}

/// From shared to global memory: `happen` does it.
void issue_out(void* destination, const SharedPlace& from, std::uint32_t bytes, bool is_atomic,
               std::uint32_t pc, std::function<void()> happen) {
  const BulkActors actors = next_bulk_copy(pc);
  check_shared(actors.reader, *from.owner, from.address, bytes, false);
  check_global(actors.writer, number(destination), bytes, true, is_atomic);
  count_sectors(number(destination), bytes, true);
  worker()->counters[SimCounter::bulk_bytes] += bytes;
  issue_bulk(actors, std::move(happen));
}

/// Between blocks of a cluster: the destination, and the barrier beside it.
struct Remote {
  SharedPlace to;
  Transaction transaction;
  CopyActor actor;
};

Remote remote_of(void* destination, std::uint32_t bytes, void* barrier, const char* what,
                 std::uint32_t pc) {
  const SharedPlace to = shared_place(destination, what, pc);
  const SharedPlace on = shared_place(barrier, what, pc);
  require_shared(*to.owner, to.address, bytes, what, pc);
  if (to.owner != on.owner)
    refuse_operand(FindingKind::bad_operand, what,
                   "destination and mbarrier are of different blocks", pc);
  const Transaction transaction = begin_transaction(*on.owner, on.address, what, pc);
  worker()->counters[SimCounter::bulk_bytes] += bytes;
  if (to.owner != worker()->block) ++worker()->counters[SimCounter::remote_shared_accesses];
  return {to, transaction, {to.owner, transaction.barrier->agent, transaction.clock, pc}};
}

void check_source(const Remote& remote, const SharedPlace& from, std::uint32_t bytes) {
  check_shared(remote.actor, *from.owner, from.address, bytes, false);
  if (remote.to.owner != from.owner && worker()->launch.options.check)
    note_copy_source(*remote.to.owner, remote.actor.actor, remote.actor.clock, from.address,
                     remote.actor.pc);
}

}  // namespace

void bulk_load(void* destination, const void* source, std::uint32_t bytes, void* barrier,
               std::uint16_t blocks) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk load";
  require_bulk_size(bytes, what, pc);
  const SharedPlace to = bulk_place(destination, bytes, what, "the destination", pc);
  const SharedPlace on = shared_place(barrier, what, pc);
  require_global_range(source, bytes, false, what, pc);
  if (to.owner != on.owner)
    refuse_operand(FindingKind::bad_operand, what,
                   "destination and mbarrier are of different blocks", pc);
  count_sectors(number(source), bytes, false);
  if (blocks == 0) {
    load_into(*to.owner, to.address, source, bytes, on.address, pc);
    return;
  }
  for (Block* block : blocks_of_mask(blocks, what, pc))
    load_into(*block, to.address, source, bytes, on.address, pc);
}

void bulk_store(void* destination, const void* source, std::uint32_t bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk store";
  require_bulk_size(bytes, what, pc);
  const SharedPlace from = own_source(source, bytes, what, pc);
  require_global_range(destination, bytes, true, what, pc);
  issue_out(destination, from, bytes, false, pc, [destination, from, bytes] {
    std::memcpy(destination, window_pointer(*from.owner, from.address), bytes);
  });
}

void bulk_reduce(Atomic op, Number type, int element_bytes, void* destination, const void* source,
                 std::uint32_t bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk reduction";
  require_bulk_size(bytes, what, pc);
  require_reduction(op, type, element_bytes, what, pc);
  const SharedPlace from = own_source(source, bytes, what, pc);
  require_global_range(destination, bytes, true, what, pc);
  issue_out(destination, from, bytes, true, pc, [=] {
    reduce_numbers(op, type, element_bytes, destination, window_pointer(*from.owner, from.address),
                   bytes);
  });
}

void bulk_copy_cluster(void* destination, const void* source, std::uint32_t bytes, void* barrier) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk copy between blocks";
  require_bulk_size(bytes, what, pc);
  const SharedPlace from = own_source(source, bytes, what, pc);
  bulk_place(destination, bytes, what, "the destination", pc);
  const Remote remote = remote_of(destination, bytes, barrier, what, pc);
  check_source(remote, from, bytes);
  check_shared(remote.actor, *remote.to.owner, remote.to.address, bytes, true);
  poison(*remote.to.owner, remote.to.address, bytes);
  issue(*worker()->block, [remote, from, bytes] {
    std::memcpy(window_pointer(*remote.to.owner, remote.to.address),
                window_pointer(*from.owner, from.address), bytes);
    complete_transaction(remote.transaction, bytes);
  });
}

void bulk_reduce_cluster(Atomic op, Number type, int element_bytes, void* destination,
                         const void* source, std::uint32_t bytes, void* barrier) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk reduction between blocks";
  require_bulk_size(bytes, what, pc);
  require_reduction(op, type, element_bytes, what, pc);
  const SharedPlace from = own_source(source, bytes, what, pc);
  bulk_place(destination, bytes, what, "the destination", pc);
  const Remote remote = remote_of(destination, bytes, barrier, what, pc);
  check_source(remote, from, bytes);
  check_shared(remote.actor, *remote.to.owner, remote.to.address, bytes, true, true);
  issue(*worker()->block, [=] {
    reduce_numbers(op, type, element_bytes, window_pointer(*remote.to.owner, remote.to.address),
                   window_pointer(*from.owner, from.address), bytes);
    complete_transaction(remote.transaction, bytes);
  });
}

void bulk_prefetch(const void* source, std::uint32_t bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "bulk prefetch";
  require_bulk_size(bytes, what, pc);
  require_global_range(source, bytes, false, what, pc);
  count_sectors(number(source), bytes, false);
}

void store_async(void* destination, const void* values, std::uint32_t bytes, void* barrier) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "st.async";
  const SharedPlace to = shared_place(destination, what, pc);
  require_aligned(to.address, bytes, what, "the destination", pc);
  const Remote remote = remote_of(destination, bytes, barrier, what, pc);
  check_shared(remote.actor, *to.owner, to.address, bytes, true);
  std::array<std::uint8_t, kBulkAlignment> kept{};
  std::memcpy(kept.data(), values, bytes);
  poison(*to.owner, to.address, bytes);
  issue(*worker()->block, [remote, kept, bytes] {
    std::memcpy(window_pointer(*remote.to.owner, remote.to.address), kept.data(), bytes);
    complete_transaction(remote.transaction, bytes);
  });
}

}  // namespace rooftile::sim
