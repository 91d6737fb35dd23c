// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/catalogue.h"

namespace rooftile {

#define ROOFTILE_OP(name)          \
  namespace ops::name {            \
  void add_to(Registry& registry); \
  }
#include "rooftile/ops/catalogue.inc"
#undef ROOFTILE_OP

void add_catalogue(Registry& registry) {
#define ROOFTILE_OP(name) ops::name::add_to(registry);
#include "rooftile/ops/catalogue.inc"
#undef ROOFTILE_OP
}

const Registry& catalogue() {
  static const Registry registry = [] {
    Registry filled;
    add_catalogue(filled);
    return filled;
  }();
  return registry;
}

}  // namespace rooftile
