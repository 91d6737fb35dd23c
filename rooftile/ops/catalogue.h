// SPDX-License-Identifier: Apache-2.0
// All operations of this library with their kernels.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// Adds each operation of catalogue.inc; plugins may add theirs to the same registry.
void add_catalogue(Registry& registry);

/// The catalogue, made once: what the typed calls dispatch over.
const Registry& catalogue();

}  // namespace rooftile
