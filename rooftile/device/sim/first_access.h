// SPDX-License-Identifier: Apache-2.0
// Most accesses of global memory are the first of their cell, or read what others only read:
// nothing is to be ordered then. To say so takes a few steps, which are inlined into every load and
// store.
#pragma once

#include <cstdint>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

/// What a lane of the next warp is likely to access. Why: the cells of a warp's accesses are few
/// lines of the cache in each of several pages, too few for the hardware to see a stream.
[[gnu::always_inline]] inline void prefetch(std::uint64_t address, const Shadow::Range& range) {
  const Cell ahead = range[kLanes];
  __builtin_prefetch(&ahead.write);
  __builtin_prefetch(&ahead.read, 1);
  __builtin_prefetch(
      reinterpret_cast<const void*>(address + std::uint64_t{range.cell_bytes} * kLanes));
}

/// Checks a plain access by the current thread, within an allocation and aligned, as
/// check_global_access() does. False, and nothing was done: it is for that to check.
[[gnu::always_inline]] inline bool check_first_access(const Fiber& fiber, std::uint64_t address,
                                                      std::uint32_t bytes, bool is_write,
                                                      std::uint32_t pc) {
  const Worker& self = *fiber.worker;
  const Launch& launch = self.launch;
  const std::uint32_t clock = fiber.state->clock;
  if (launch.ahead.before_wait != 0 || clock >= Epoch::kClocks) return false;
  const Shadow::Range range = launch.global_shadow->cells(address - self.memory.base(), bytes);
  const Cell cell = range[0];
  prefetch(address, range);
  if (range.count != 1 || cell.write.launch() == launch.serial) return false;
  const bool is_read = cell.read.launch() == launch.serial;
  const Epoch now = self.block->began.at(self.thread, clock);
  if (is_write) {
    if (is_read) return false;
    self.memory.mark_initialised(address, bytes);
    if (cell.read.bits != 0) cell.read = {};
    cell.write = now;
    cell.write_pc = pc;
    return true;
  }
  if (!self.memory.is_initialised(address, bytes)) return false;
  if (is_read && cell.read.bits != now.bits)
    return cell.read.bits == readers_of_several_blocks(launch.serial).bits;
  cell.read = now;
  cell.read_pc = pc;
  return true;
}

/// Whether others than lanes of this warp did that in this launch; `now`: of its first lane. Why a
/// lane may go on behind its own warp: each lane has its own bytes.
inline bool is_of_another(const Row::Kind& kind, Epoch now) {
  return kind.epoch().launch() == now.launch() && !kind.epoch().is_of_actor_of(now);
}

/// Notes that the lane does that now. False: the row can't hold it, since other lanes did it at
/// another time or place.
[[gnu::always_inline]] inline bool note(Row::Kind& kind, Epoch now, std::uint32_t lane_bit,
                                        std::uint32_t pc) {
  if (kind.epoch().launch() != now.launch()) kind.begin(now);
  if (kind.epoch().bits != now.bits) return false;
  if (kind.has_any() && kind.pc.load(std::memory_order_relaxed) != pc && !kind.has(lane_bit))
    return false;
  kind.add(lane_bit, pc);
  return true;
}

/// The same as check_first_access() where each lane of a warp accesses its 16 bytes of a row.
[[gnu::always_inline]] inline bool check_row(const Fiber& fiber, std::uint64_t address,
                                             bool is_write, std::uint32_t pc) {
  const Worker& self = *fiber.worker;
  const Launch& launch = self.launch;
  const std::uint32_t clock = fiber.state->clock;
  if (launch.ahead.before_wait != 0 || clock >= Epoch::kClocks) return false;
  const std::uint64_t offset = address - self.memory.base();
  const std::uint32_t lane = fiber.lane;
  if (offset / Row::kLaneBytes % Row::kLanes != lane) return false;
  Row* const row = launch.global_shadow->own_row(offset, self.row_owner);
  if (row == nullptr) return false;
  __builtin_prefetch(reinterpret_cast<const void*>(address + Row::kBytes));
  const Epoch now = self.block->began.at(self.thread - static_cast<int>(lane), clock);
  if (is_of_another(row->write, now) || is_of_another(row->read, now)) return false;
  if (is_write) {
    if (!note(row->write, now, 1u << lane, pc)) return false;
    self.memory.mark_initialised(address, Row::kLaneBytes);
    return true;
  }
  return self.memory.is_initialised(address, Row::kLaneBytes) &&
         note(row->read, now, 1u << lane, pc);
}

}  // namespace rooftile::sim
