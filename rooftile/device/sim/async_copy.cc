// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/async_copy.h"

#include <cstring>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {
namespace {

constexpr int kPoison = 0xff;  // NaN in every floating-point type

AccessCheck access_of(const CopyActor& actor, bool is_write, bool is_atomic, bool is_generic) {
  return {.observer = worker()->block,
          .thread = worker()->thread,
          .actor = actor.actor,
          .clock = actor.clock,
          .is_write = is_write,
          .is_strong = is_atomic,
          .is_async_proxy = !is_generic,
          .pc = actor.pc,
          .actor_block = actor.block};
}

}  // namespace

void refuse_operand(FindingKind kind, const char* what, const std::string& text, std::uint32_t pc) {
  report(kind, pc, 0, describe_here() + ": " + what + ": " + text);
  abandon();
}

void require_shared(Block& owner, std::uint32_t address, std::uint32_t bytes, const char* what,
                    std::uint32_t pc) {
  const std::uint8_t* pointer = window_pointer(owner, address);
  const std::uint64_t from_dynamic = static_cast<std::uint64_t>(pointer - owner.shared);
  if (from_dynamic < kSharedBytes) {
    const auto have = static_cast<std::uint64_t>(worker()->launch.shape.dynamic_shared_bytes);
    if (from_dynamic + bytes <= have) return;
    refuse_operand(FindingKind::out_of_bounds, what,
                   std::to_string(bytes) + " bytes at " + std::to_string(from_dynamic) + " of " +
                       std::to_string(have) + " bytes of dynamic shared memory",
                   pc);
  }
  if (lies_in_shared(owner, reinterpret_cast<std::uint64_t>(pointer), bytes)) return;
  refuse_operand(FindingKind::out_of_bounds, what,
                 std::to_string(bytes) + " bytes at " +
                     describe_shared(owner, reinterpret_cast<std::uint64_t>(pointer)) +
                     " do not lie in one __shared__ variable",
                 pc);
}

void require_global(std::uint64_t address, std::uint64_t bytes, bool is_write, const char* what,
                    std::uint32_t pc) {
  if (bytes == 0) return;
  const GlobalMemory& memory = GlobalMemory::get();
  const bool is_inside = memory.contains(address) && memory.contains(address + bytes - 1);
  const std::optional<Allocation> found = is_inside ? memory.find(address) : std::nullopt;
  if (found && address + bytes <= found->end) return;
  const std::string place = !is_inside ? "outside of global memory"
                            : found    ? memory.describe(found->end)
                                       : memory.describe(address);
  refuse_operand(FindingKind::out_of_bounds, what,
                 (is_write ? "writes " : "reads ") + std::to_string(bytes) + " bytes, " + place,
                 pc);
}

void require_aligned(std::uint64_t address, std::uint32_t alignment, const char* what,
                     const char* operand, std::uint32_t pc) {
  if (address % alignment == 0) return;
  refuse_operand(FindingKind::misaligned, what,
                 std::string(operand) + " is " + std::to_string(address % alignment) +
                     " behind a multiple of " + std::to_string(alignment),
                 pc);
}

void check_shared(const CopyActor& actor, Block& owner, std::uint32_t address, std::uint32_t bytes,
                  bool is_write, bool is_atomic, bool is_generic) {
  if (!worker()->launch.options.check) return;
  check_access(access_of(actor, is_write, is_atomic, is_generic), owner,
               reinterpret_cast<std::uint64_t>(window_pointer(owner, address)), bytes);
}

void check_global(const CopyActor& actor, std::uint64_t address, std::uint64_t bytes, bool is_write,
                  bool is_atomic, bool is_generic) {
  if (!worker()->launch.options.check || bytes == 0) return;
  check_global_access(access_of(actor, is_write, is_atomic, is_generic), address, bytes);
}

std::vector<Block*> blocks_of_mask(std::uint16_t mask, const char* what, std::uint32_t pc) {
  const auto& all = worker()->cluster->blocks;
  std::vector<Block*> blocks;
  for (std::size_t rank = 0; mask >> rank != 0; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= all.size())
      refuse_operand(
          FindingKind::bad_operand, what,
          "block " + std::to_string(rank) + " of a cluster of " + std::to_string(all.size()), pc);
    if (all[rank]->live == 0)
      refuse_operand(FindingKind::out_of_bounds, what,
                     "shared memory of " + describe_block(*all[rank]) + ", which has ended", pc);
    blocks.push_back(all[rank].get());
  }
  return blocks;
}

void touch_sectors(std::uint64_t address, std::uint64_t bytes, bool is_write) {
  (void)touch_global(address, bytes, !is_write, is_write);
}

void count_sectors(std::uint64_t address, std::uint64_t bytes, bool is_write) {
  worker()->counters[SimCounter::l2_requests] += touch_global(address, bytes, !is_write, is_write);
  if (bytes == 0 || is_write) return;
  const GlobalMemory& memory = GlobalMemory::get();
  worker()->counters[SimCounter::l2_read_sectors] +=
      memory.sector(address + bytes - 1) - memory.sector(address) + 1;
}

bool is_deferred() {
  return worker()->launch.options.check &&
         worker()->launch.options.completion != SimCompletion::early;
}

void poison(Block& owner, std::uint32_t address, std::uint32_t bytes) {
  if (is_deferred()) std::memset(window_pointer(owner, address), kPoison, bytes);
}

}  // namespace rooftile::sim
