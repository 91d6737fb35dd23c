// SPDX-License-Identifier: Apache-2.0
// The raw entry of softmax/cpu_simd, for callers that have pointers rather than a problem.
#pragma once

#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/device/device.h"

namespace rooftile::ops::softmax {

/// y[r,c] = exp(scale * (x[r,c] - max_r)) / sum_r over c < length(r), and 0 from there on.
struct SoftmaxCall {
  void* y = nullptr;
  const void* x = nullptr;                // y may be x, with the same dtype and stride
  const std::int32_t* lengths = nullptr;  // [rows], clamped to [0, cols]; absent: cols
  DType y_dtype = DType::f32;             // f32, bf16 or fp16, as x_dtype
  DType x_dtype = DType::f32;
  std::int64_t y_row_stride = 0;  // elements; those of a row are adjacent
  std::int64_t x_row_stride = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  float scale = 1;             // positive and finite
  bool stream_output = false;  // write y around the caches
};

/// Launches it on a stream of the cpu device.
void run(const SoftmaxCall& call, Stream& stream);

}  // namespace rooftile::ops::softmax
