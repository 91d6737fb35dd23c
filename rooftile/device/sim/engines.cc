// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/engines.h"

namespace rooftile::sim {

void EnginesDeleter::operator()(Engines* engines) const { delete engines; }

Engines& engines_of(Block& block) {
  if (block.engines == nullptr) block.engines.reset(new Engines(block));
  return *block.engines;
}

void end_engines(Block& block) {
  if (block.engines == nullptr) return;
  end_wgmma(block.engines->wgmma);
  end_register_pool(block, block.engines->register_pool);
}

std::string describe_engines(Block& block) {
  if (block.engines == nullptr) return "";
  stop_wgmma(block.engines->wgmma);
  return "";
}

}  // namespace rooftile::sim
