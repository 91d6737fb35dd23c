// SPDX-License-Identifier: Apache-2.0
// What declarations of matrix products share: the letters of their layouts, as in BLAS, and the
// unit that multiplies.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "rooftile/core/problem.h"
#include "rooftile/core/shape.h"
#include "rooftile/op/op.h"

namespace rooftile::ops::gemm {

/// Strides of a matrix: n, row-major as its shape is written, or t, transposed in memory.
inline Dims strides_of(const Dims& shape, char letter) {
  if (letter == 'n') return row_major(shape);
  return {1, std::max<std::int64_t>(shape[0], 1)};
}

/// Of A [m, k] and B [k, n], by the option `layout`.
inline Dims strides_a(const Problem& problem, const Dims& shape) {
  return strides_of(shape, problem.option("layout")[0]);
}
inline Dims strides_b(const Problem& problem, const Dims& shape) {
  return strides_of(shape, problem.option("layout")[1]);
}

/// What multiplies `a` by `rights`: a matrix unit where all are of one type that it has.
inline Unit unit_of(const Problem& problem, std::initializer_list<const char*> rights) {
  const DType a = problem.dtype("a");
  for (const char* right : rights)
    if (problem.dtype(right) != a) return Unit::fp32;
  return a == DType::bf16 ? Unit::bf16 : a == DType::fp16 ? Unit::fp16 : Unit::fp32;
}

}  // namespace rooftile::ops::gemm
