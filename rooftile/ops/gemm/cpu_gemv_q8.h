// SPDX-License-Identifier: Apache-2.0
// Integer dot products of int8 rows with columns of GGUF blocks.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/cpu_activations.h"
#include "rooftile/ops/gemm/cpu_columns.h"

namespace rooftile::ops::gemm {

/// A task of cpu_gemv_q8: the columns, with A as rows of int8_row_bytes(k) each.
struct Q8Task {
  const ColumnsTask& columns;
  std::int64_t row_bytes;
};

/// Whether dot_q8_avx2 takes this type.
bool has_q8_dot(DType dtype);

/// What a type needs as quantise_row's factor: the code that means 0, negated; 1 with a minimum.
float q8_factor(DType dtype);

void dot_q8_avx2(const Q8Task& task);

}  // namespace rooftile::ops::gemm
