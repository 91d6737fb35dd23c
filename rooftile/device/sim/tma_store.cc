// SPDX-License-Identifier: Apache-2.0
// Stores and reductions of boxes. Source: PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor".
#include <array>
#include <cstring>

#include "rooftile/device/sim/async_copy.h"
#include "rooftile/device/sim/bulk_groups.h"
#include "rooftile/device/sim/mbarrier.h"
#include "rooftile/device/sim/reduction.h"
#include "rooftile/device/sim/tma_operand.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

void read_row(std::uint8_t* bytes, const TmaBox& box, std::uint32_t row, Block& owner,
              std::uint32_t address) {
  for (std::uint32_t at = 0; at < box.row_bytes; at += kSwizzleChunkBytes)
    std::memcpy(bytes + at, window_pointer(owner, box.shared_address(address, row, at)),
                kSwizzleChunkBytes);
}

void check_store(const TmaBox& box, const BulkActors& actors, Block& owner, std::uint32_t address,
                 const char* what, bool is_atomic) {
  for (std::uint32_t r = 0; r < box.rows; ++r) {
    const TmaBox::Row row = box.written_row(r);
    for (std::uint32_t at = 0; at < box.row_bytes; at += kSwizzleChunkBytes)
      check_shared(actors.reader, owner, box.shared_address(address, r, at), kSwizzleChunkBytes,
                   false);
    require_global(row.global, row.end - row.begin, true, what, actors.writer.pc);
    check_global(actors.writer, row.global, row.end - row.begin, true, is_atomic);
    count_sectors(row.global, row.end - row.begin, true);
  }
}

struct Source {
  TmaBox box;
  Block* owner;
  std::uint32_t address;
};

Source source_of(const TensorMap* map, int rank, const std::int32_t* at, const void* source,
                 const char* what, std::uint32_t pc) {
  const TmaBox box = box_of(map, rank, at, true, what, pc);
  const SharedPlace from = shared_place(source, what, pc);
  if (from.owner != worker()->block)
    refuse_operand(FindingKind::bad_operand, what, "the source is in another block's shared memory",
                   pc);
  require_aligned(from.address, kBoxAlignment, what, "the source in shared memory", pc);
  require_shared(*from.owner, from.address, box.shared_bytes(), what, pc);
  ++worker()->counters[SimCounter::tma_instructions];
  return {box, from.owner, from.address};
}

}  // namespace

void tma_store(const TensorMap* map, int rank, const std::int32_t* at, const void* source) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "TMA store";
  const Source from = source_of(map, rank, at, source, what, pc);
  const BulkActors actors = next_bulk_copy(pc);
  check_store(from.box, actors, *from.owner, from.address, what, false);
  worker()->counters[SimCounter::tma_store_bytes] += from.box.bytes();
  issue_bulk(actors, [from] {
    std::array<std::uint8_t, kMostRowBytes> bytes;
    for (std::uint32_t r = 0; r < from.box.rows; ++r) {
      const TmaBox::Row row = from.box.written_row(r);
      read_row(bytes.data(), from.box, r, *from.owner, from.address);
      std::memcpy(reinterpret_cast<void*>(row.global), bytes.data() + row.begin,
                  row.end - row.begin);
    }
  });
}

void tma_reduce(Atomic op, const TensorMap* map, int rank, const std::int32_t* at,
                const void* source) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "TMA reduction";
  const Source from = source_of(map, rank, at, source, what, pc);
  const Number type = number_of(from.box.map.dtype, what, pc);
  require_reduction(op, type, static_cast<int>(from.box.element_bytes), what, pc);
  const BulkActors actors = next_bulk_copy(pc);
  check_store(from.box, actors, *from.owner, from.address, what, true);
  worker()->counters[SimCounter::tma_reduce_bytes] += from.box.bytes();
  issue_bulk(actors, [from, op, type] {
    std::array<std::uint8_t, kMostRowBytes> bytes;
    for (std::uint32_t r = 0; r < from.box.rows; ++r) {
      const TmaBox::Row row = from.box.written_row(r);
      read_row(bytes.data(), from.box, r, *from.owner, from.address);
      reduce_numbers(op, type, static_cast<int>(from.box.element_bytes),
                     reinterpret_cast<void*>(row.global), bytes.data() + row.begin,
                     row.end - row.begin);
    }
  });
}

}  // namespace rooftile::sim
