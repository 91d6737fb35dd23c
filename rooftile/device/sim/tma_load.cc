// SPDX-License-Identifier: Apache-2.0
// Loads of boxes, also into several blocks of a cluster. Source: PTX ISA, "cp.async.bulk.tensor".
#include <array>
#include <cstring>

#include "rooftile/device/sim/async_copy.h"
#include "rooftile/device/sim/mbarrier.h"
#include "rooftile/device/sim/tma_operand.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

constexpr const char* kWhat = "TMA load";

/// Calls `visit(address, bytes)` for each piece of the block's window that the box covers.
template <class Visit>
void for_each_piece(const TmaBox& box, std::uint32_t address, Visit visit) {
  if (box.is_dense()) {
    visit(address, box.bytes());
    return;
  }
  for (std::uint32_t row = 0; row < box.rows; ++row)
    for (std::uint32_t at = 0; at < box.row_bytes; at += kSwizzleChunkBytes)
      visit(box.shared_address(address, row, at), kSwizzleChunkBytes);
}

void copy_row(const TmaBox& box, std::uint32_t number, Block& owner, std::uint32_t address) {
  std::array<std::uint8_t, kMostRowBytes> bytes;
  const TmaBox::Row row = box.row(number);
  if (row.end - row.begin != box.row_bytes) fill_outside(bytes.data(), box.row_bytes, box.map);
  std::memcpy(bytes.data() + row.begin, reinterpret_cast<const void*>(row.global),
              row.end - row.begin);
  if (box.map.swizzle == Swizzle::none) {
    std::memcpy(window_pointer(owner, address + number * box.row_pitch), bytes.data(),
                box.row_bytes);
    return;
  }
  for (std::uint32_t at = 0; at < box.row_bytes; at += kSwizzleChunkBytes)
    std::memcpy(window_pointer(owner, box.shared_address(address, number, at)), bytes.data() + at,
                kSwizzleChunkBytes);
}

/// The box into one block.
void load_into(Block& owner, const TmaBox& box, std::uint32_t address, std::uint32_t barrier,
               std::uint32_t pc) {
  require_shared(owner, address, box.shared_bytes(), kWhat, pc);
  const Transaction transaction = begin_transaction(owner, barrier, kWhat, pc);
  const CopyActor actor{&owner, transaction.barrier->agent, transaction.clock, pc};
  for_each_piece(box, address, [&](std::uint32_t at, std::uint32_t bytes) {
    check_shared(actor, owner, at, bytes, true);
    poison(owner, at, bytes);
  });
  for (std::uint32_t r = 0; r < box.rows; ++r) {
    const TmaBox::Row row = box.row(r);
    check_global(actor, row.global, row.end - row.begin, false);
  }
  worker()->counters[SimCounter::tma_load_bytes] += box.bytes();
  issue(*worker()->block, [&owner, box, address, transaction] {
    for (std::uint32_t row = 0; row < box.rows; ++row) copy_row(box, row, owner, address);
    complete_transaction(transaction, box.bytes());
  });
}

}  // namespace

void tma_load(void* destination, const TensorMap* map, int rank, const std::int32_t* at,
              void* barrier, std::uint16_t blocks) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const TmaBox box = box_of(map, rank, at, false, kWhat, pc);
  const SharedPlace to = shared_place(destination, kWhat, pc);
  const SharedPlace on = shared_place(barrier, kWhat, pc);
  require_aligned(to.address, kBoxAlignment, kWhat, "the destination in shared memory", pc);
  if (to.owner != on.owner)
    refuse_operand(FindingKind::bad_operand, kWhat,
                   "destination and mbarrier are of different blocks", pc);
  ++worker()->counters[SimCounter::tma_instructions];
  for (std::uint32_t r = 0; r < box.rows; ++r) {
    const TmaBox::Row row = box.row(r);
    count_sectors(row.global, row.end - row.begin, false);
  }
  if (blocks == 0) {
    load_into(*to.owner, box, to.address, on.address, pc);
    return;
  }
  for (Block* block : blocks_of_mask(blocks, kWhat, pc))
    load_into(*block, box, to.address, on.address, pc);
}

}  // namespace rooftile::sim
