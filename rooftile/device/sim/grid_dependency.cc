// SPDX-License-Identifier: Apache-2.0
// Launches that may overlap the kernel ahead of them. The simulator runs launches one after
// another; what touches memory of a kernel ahead that may still run is found all the same. A wait
// is for the last one ahead: what that one has not waited for itself may run on. Source: PTX ISA,
// "griddepcontrol".
#include "rooftile/device/sim/machine.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {

void wait_for_grid() {
  Block& block = *worker()->block;
  Thread& thread = worker()->current();
  thread.knows_grid_ahead = true;
  block.worker.launch.has_waited = true;
  if (!block.lets_next_begin) block.worker.launch.holds_next = true;
  block.grid_waits.emplace_back(worker()->thread, thread.clock);
  tick(block, thread);
}

void launch_dependents() { worker()->block->lets_next_begin = true; }

GridsAhead grids_ahead_of_next(const Launch& launch) {
  const GridsAhead& ahead = launch.ahead;
  // The next begins once all blocks have let it; when it has waited, all of them have ended.
  const std::uint32_t at_begin = launch.holds_next ? ahead.after_wait : ahead.before_wait;
  return {.before_wait = at_begin != 0 ? at_begin : launch.serial,
          .after_wait = launch.has_waited ? ahead.after_wait : ahead.before_wait};
}

bool knows_grid_ahead(Block& observer, int number) {
  Thread& thread = observer[number];
  if (thread.knows_grid_ahead) return true;
  const std::uint32_t serial = observer.worker.launch.serial;
  for (const auto& block : observer.cluster->blocks)
    for (const auto& [waiter, clock] : block->grid_waits)
      if (is_ordered(observer, thread, number, Epoch::make(serial, block->number, waiter, clock))) {
        thread.knows_grid_ahead = true;
        return true;
      }
  return false;
}

}  // namespace rooftile::sim
