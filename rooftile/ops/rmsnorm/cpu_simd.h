// SPDX-License-Identifier: Apache-2.0
// The raw entry of rmsnorm/cpu_simd, for callers that have pointers rather than a problem.
#pragma once

#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/device/device.h"

namespace rooftile::ops::rmsnorm {

/// A matrix whose rows have adjacent elements in f32, bf16 or fp16.
struct RowsView {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t row_stride = 0;  // elements
};

/// s = x, or x + residual rounded to sum's dtype, which goes to sum;
/// y[r,c] = s[r,c] / sqrt(mean_c(s[r,c]^2) + eps) * (w[c] + offset)
struct RmsnormCall {
  RowsView y{};    // may be x or residual, if their dtypes and strides agree
  RowsView sum{};  // present exactly when residual is, in its dtype; may be x or residual
  RowsView x{};
  RowsView residual{};
  const void* w = nullptr;  // [cols]
  DType w_dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  double eps = 1e-6;
  float offset = 0;  // 1: the weights are stored as w - 1
  bool rounds_early =
      false;  // the normalised value is rounded to s's dtype, then times w (Llama's order)
  bool stream_output = false;  // write y around the caches
  float* workspace = nullptr;  // [cols rounded up to 16]: the weights in f32
};

/// Launches it on a stream of the cpu device.
void run(const RmsnormCall& call, Stream& stream);

}  // namespace rooftile::ops::rmsnorm
