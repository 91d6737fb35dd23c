// SPDX-License-Identifier: Apache-2.0
// Blocks of f32 over vectors (ops/binary_simd.cc).
#include "rooftile/ops/binary.h"

namespace rooftile::ops::mul {

extern const KernelDef cpu_simd;
const KernelDef cpu_simd = binary_simd(BinaryFn::mul, "mul");

}  // namespace rooftile::ops::mul
