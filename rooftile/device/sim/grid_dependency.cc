// SPDX-License-Identifier: Apache-2.0
// Launches that may overlap the kernel ahead of them. The simulator runs launches one after
// another; what touches memory of the kernel ahead before anything has waited for it is found all
// the same. Source: PTX ISA, "griddepcontrol".
#include "rooftile/device/sim/machine.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {

void wait_for_grid() {
  Block& block = *worker()->block;
  Thread& thread = worker()->current();
  thread.knows_grid_ahead = true;
  block.grid_waits.emplace_back(worker()->thread, thread.clock);
  tick(block, thread);
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
