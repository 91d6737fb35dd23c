// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/tma_operand.h"

#include "rooftile/device/sim/async_copy.h"
#include "rooftile/device/sim/sim_tensor_map.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

constexpr std::int64_t kCoordinateBytes = 16;

TensorMapSpec spec_of(const TensorMap* map, const char* what, std::uint32_t pc) {
  const std::optional<TensorMapSpec> spec = map != nullptr ? decode_tensor_map(*map) : std::nullopt;
  if (!spec)
    refuse_operand(FindingKind::bad_operand, what,
                   "the tensor map is none that Device::encode_tensor_map() made for the simulator",
                   pc);
  return *spec;
}

}  // namespace

TmaBox box_of(const TensorMap* map, int rank, const std::int32_t* at, bool is_write,
              const char* what, std::uint32_t pc) {
  const TensorMapSpec spec = spec_of(map, what, pc);
  if (spec.rank != rank)
    refuse_operand(
        FindingKind::bad_operand, what,
        std::to_string(rank) + " coordinates for a tensor of rank " + std::to_string(spec.rank),
        pc);
  TmaBox box(spec, at);
  if (std::int64_t{at[0]} * box.element_bytes % kCoordinateBytes != 0)
    refuse_operand(FindingKind::bad_operand, what,
                   "the innermost coordinate " + std::to_string(at[0]) + " is at " +
                       std::to_string(std::int64_t{at[0]} * box.element_bytes) +
                       " bytes, no multiple of 16",
                   pc);
  for (int d = 0; is_write && d < rank; ++d)
    if (at[d] < 0)
      refuse_operand(FindingKind::bad_operand, what,
                     "coordinate " + std::to_string(d) + " is " + std::to_string(at[d]) +
                         "; only loads may begin before the tensor",
                     pc);
  require_global(reinterpret_cast<std::uint64_t>(spec.data), box.tensor_bytes(), is_write, what,
                 pc);
  return box;
}

void tensor_map_prefetch(const TensorMap* map) {
  spec_of(map, "prefetch.tensormap", ROOFTILE_SIM_PC);
  ++worker()->counters[SimCounter::tma_instructions];
}

void tma_prefetch(const TensorMap* map, int rank, const std::int32_t* at) {
  const TmaBox box = box_of(map, rank, at, false, "TMA prefetch", ROOFTILE_SIM_PC);
  ++worker()->counters[SimCounter::tma_instructions];
  for (std::uint32_t r = 0; r < box.rows; ++r) {
    const TmaBox::Row row = box.row(r);
    count_sectors(row.global, row.end - row.begin, false);
  }
}

}  // namespace rooftile::sim
