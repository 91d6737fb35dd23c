// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder (ops/binary.cc).
#include "rooftile/ops/binary.h"

namespace rooftile::ops::mul {

extern const KernelDef cpu_plain;
const KernelDef cpu_plain = binary_plain(BinaryFn::mul, "mul");

}  // namespace rooftile::ops::mul
