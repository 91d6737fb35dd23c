// SPDX-License-Identifier: Apache-2.0
// What the asynchronous engines of one block keep. Each engine's file defines its own part.
#pragma once

#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/register_pool.h"
#include "rooftile/device/sim/wgmma.h"

namespace rooftile::sim {

struct Mbarriers;
struct BulkGroups;
struct CopyGroups;

struct Engines {
  explicit Engines(Block& of);
  ~Engines();
  Block& block;
  std::unique_ptr<Mbarriers> mbarriers;
  std::unique_ptr<BulkGroups> bulk_groups;
  std::unique_ptr<CopyGroups> copy_groups;
  WgmmaEngine wgmma{};
  RegisterPool register_pool{};
};

/// The engines of `block`, made at first use.
Engines& engines_of(Block& block);

/// Called when a block's threads have all returned: reports what was issued and never waited for,
/// where that is an error, and lets the rest happen.
void end_engines(Block& block);

/// Adds the state of mbarriers and groups to a report of a deadlock.
std::string describe_engines(Block& block);

}  // namespace rooftile::sim
