// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/engines.h"

#include "rooftile/device/sim/bulk_groups.h"
#include "rooftile/device/sim/cp_async.h"
#include "rooftile/device/sim/mbarrier.h"

namespace rooftile::sim {

Engines::Engines(Block& of) : block(of) {}
Engines::~Engines() = default;

void EnginesDeleter::operator()(Engines* engines) const { delete engines; }

Engines& engines_of(Block& block) {
  if (block.engines == nullptr) block.engines.reset(new Engines(block));
  return *block.engines;
}

void end_engines(Block& block) {
  if (block.engines == nullptr) return;
  end_wgmma(block.engines->wgmma);
  end_register_pool(block, block.engines->register_pool);
  if (block.engines->mbarriers != nullptr) end_mbarriers(block);
  if (block.engines->bulk_groups != nullptr) end_bulk_groups(block);
  if (block.engines->copy_groups != nullptr) end_copy_groups(block);
}

std::string describe_engines(Block& block) {
  if (block.engines == nullptr) return "";
  stop_wgmma(block.engines->wgmma);
  return block.engines->mbarriers != nullptr ? describe_mbarriers(block) : "";
}

}  // namespace rooftile::sim
