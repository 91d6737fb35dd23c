// SPDX-License-Identifier: Apache-2.0
// The declaration of mul, and its typed call.
#include "rooftile/op/op.h"

#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/binary.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/mul/mul.h"

namespace rooftile::ops::mul {

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/mul/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def =
    binary_def(BinaryFn::mul, {.name = "mul",
                               .summary = "Product of two matrices, element by element",
                               .formula = "y[r,c] = a[r,c] * b[r,c]"});

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/mul/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::mul

namespace rooftile {

void mul(Stream& stream, const TensorView& y, const TensorView& a, const TensorView& b) {
  const TensorView views[]{y, a, b};
  call(catalogue(), "mul", stream, views, {});
}

}  // namespace rooftile
