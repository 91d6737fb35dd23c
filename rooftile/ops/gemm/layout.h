// SPDX-License-Identifier: Apache-2.0
// The letters of a matrix product's layouts, as in BLAS.
#pragma once

#include <algorithm>

#include "rooftile/core/shape.h"

namespace rooftile::ops::gemm {

/// Strides of a matrix: n, row-major as its shape is written, or t, transposed in memory.
inline Dims strides_of(const Dims& shape, char letter) {
  if (letter == 'n') return row_major(shape);
  return {1, std::max<std::int64_t>(shape[0], 1)};
}

}  // namespace rooftile::ops::gemm
