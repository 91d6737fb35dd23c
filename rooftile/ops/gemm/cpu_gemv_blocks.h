// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/cpu_columns.h"

namespace rooftile::ops::gemm {

/// A task of cpu_gemv_blocks: the columns, and A as rows of f32.
struct BlocksTask {
  const ColumnsTask& columns;
  const float* x;
  std::int64_t x_stride;
};

}  // namespace rooftile::ops::gemm
