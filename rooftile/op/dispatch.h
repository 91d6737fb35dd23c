// SPDX-License-Identifier: Apache-2.0
// Choosing a kernel, loudly: a tuned record, else the order of preference, else an error that lists
// each kernel and its reason. Proven kernels come first; an unproven one is used only where nothing
// proven supports the problem. ROOFTILE_LOG=dispatch prints each choice and why; ROOFTILE_STRICT=1
// refuses unproven kernels.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

struct Choice {
  const KernelDef* kernel = nullptr;
  Config config{};
  std::string why{};
};

/// Throws Error(unsupported) when no kernel will do, with every kernel's reason.
Choice choose(const Registry& registry, const Problem& problem, const DeviceProperties& device);

/// choose() and Plan in one.
Plan prepare(const Registry& registry, const Problem& problem, Device& device);

}  // namespace rooftile
