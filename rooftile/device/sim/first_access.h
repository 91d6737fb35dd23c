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
[[gnu::always_inline]] inline bool check_first_access(const Worker& self, std::uint64_t address,
                                                      std::uint32_t bytes, bool is_write,
                                                      std::uint32_t pc) {
  const Launch& launch = self.launch;
  const std::uint32_t clock = (*self.block)[self.thread].clock;
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

}  // namespace rooftile::sim
