// SPDX-License-Identifier: Apache-2.0
// Eight elements at a time of any types and strides (ops/binary_sm90.cu).
#include "rooftile/ops/binary.h"

namespace rooftile::ops::mul {

extern const KernelDef sm90_vector;
const KernelDef sm90_vector = binary_sm90(BinaryFn::mul, "mul");

}  // namespace rooftile::ops::mul
