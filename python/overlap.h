// SPDX-License-Identifier: Apache-2.0
// Whether two views share memory: what a caller of another language gets wrong most easily.
#pragma once

#include "rooftile/core/tensor.h"

namespace rooftile::python {

/// Whether some byte belongs to both. Exact for slices of one buffer, interleaved ones included;
/// where strides have no common pattern, a possible overlap counts as one.
bool may_overlap(const TensorView& a, const TensorView& b);

}  // namespace rooftile::python
