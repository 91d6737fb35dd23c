// SPDX-License-Identifier: Apache-2.0
// A simulated thread gives way to the next that can run: as a kernel makes tens of millions of
// switches, what most of them need is inlined.
#pragma once

#include <cstdint>

#include "rooftile/device/sim/fiber.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

/// Switches to a thread that has not begun, or of another block; or to the host's stack where there
/// is none, or nothing changes any more.
void switch_otherwise(Worker& self, Runnable next, void** save);
/// Of the current thread, whose state says why: chance has a say, or none is ready.
void block_thread_otherwise(Worker& self);

/// Switches to `thread`, whose block is the worker's.
[[gnu::always_inline]] inline void run_on(Worker& self, int number, Thread& thread, void** save) {
  thread.state = State::running;
  self.thread = number;
  rooftile_sim_switch(save, thread.stack_pointer);
}

/// Switches to `next`, or to the host's stack where there is none; saves where it was in `save`.
[[gnu::always_inline]] inline void switch_to(Worker& self, Runnable next, void** save) {
  const std::uint64_t switches = ++self.counters[SimCounter::fiber_switches];
  if (next.block != self.block || switches >= self.next_look)
    return switch_otherwise(self, next, save);
  Thread& thread = (*next.block)[next.thread];
  if (thread.state == State::fresh) return switch_otherwise(self, next, save);
  run_on(self, next.thread, thread, save);
}

/// Goes on with `next`, which may be the current thread.
[[gnu::always_inline]] inline void run_next(Worker& self, Runnable next) {
  Thread& thread = self.current();
  if (next.block == self.block && next.thread == self.thread)
    thread.state = State::running;
  else
    switch_to(self, next, &thread.stack_pointer);
}

/// What block_thread() does.
[[gnu::always_inline]] inline void block_current(Worker& self, State why, std::uint32_t detail = 0,
                                                 std::uint32_t more = 0) {
  Thread& thread = self.current();
  thread.state = why;
  thread.wait = {detail, more};
  if (self.owes_progress || self.plays_dice || why == State::yielded || self.cluster->ready.empty())
    return block_thread_otherwise(self);
  run_next(self, self.cluster->ready.pop());
}

}  // namespace rooftile::sim
