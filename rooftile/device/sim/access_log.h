// SPDX-License-Identifier: Apache-2.0
// What each lane accessed, until the accesses of its warp are joined to requests (requests.cc).
#pragma once

#include <cstdint>

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

/// Of the worker's current thread, whose log is full.
void empty_log(Worker& self);

/// Of the current thread.
inline void log_access(const Fiber& fiber, std::uint64_t address, std::uint32_t bytes,
                       MemorySpace space, AccessOp op, std::uint32_t pc) {
  Thread& thread = *fiber.state;
  if (thread.logged == 0) fiber.warp->logged |= 1u << fiber.lane;
  thread.log[thread.logged++ * kLanes] = {
      address, pc, static_cast<std::uint8_t>(bytes),
      static_cast<std::uint8_t>(static_cast<unsigned>(space) | static_cast<unsigned>(op) << 1)};
  if (thread.logged == kLoggedAccesses) empty_log(*fiber.worker);
}

}  // namespace rooftile::sim
