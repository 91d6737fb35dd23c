// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/cpu_vendor.h"

#include <algorithm>

#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {

VendorTarget vendor_target(const Problem& problem, const GemmCall& shape) {
  const Matrix d{
      .dtype = shape.d_dtype, .row_stride = shape.d_row_stride, .col_stride = shape.d_col_stride};
  const auto layout = plain_layout(shape.m, shape.n, d);
  if (shape.k > 0 && shape.d_dtype == DType::f32 && shape.act == Act::none &&
      !problem.has("bias") && !problem.has("residual") && layout && !layout->is_transposed)
    return {.is_d = true, .ld = layout->ld, .bytes = 0};
  const std::int64_t ld = ceil_div(std::max<std::int64_t>(shape.n, 1), 16) * 16;
  return {.is_d = false, .ld = ld, .bytes = shape.m * ld * 4};
}

void finish_vendor(const GemmCall& call, float* buffer, std::int64_t ld, Launch launch) {
  const std::int64_t rows = std::max<std::int64_t>(16384 / ld, 1);  // of a task: 64 KiB
  launch(ceil_div(call.m, rows), [&](std::int64_t task) {
    const std::int64_t row = task * rows;
    finish_block(call, {.acc = buffer + row * ld,
                        .ld = ld,
                        .row = row,
                        .col = 0,
                        .rows = std::min(rows, call.m - row),
                        .cols = call.n});
  });
}

}  // namespace rooftile::ops::gemm
