// SPDX-License-Identifier: Apache-2.0
// Softmax of rows, with an optional length of each row:
//   y[r,c] = exp(scale*(x[r,c] - max_c x[r,c])) / sum_c exp(scale*(x[r,c] - max_c x[r,c])),  c <
//   length[r]
// and 0 from length[r] on. A row with nothing to choose from (length 0, or only -inf) is all
// 0; a NaN or +inf makes its row NaN.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

struct SoftmaxOptions {
  double scale = 1;  // at least 0
};

/// y, x: [rows, cols], f32, bf16 or fp16 each; y may be x. lengths: [rows] i32, absent for whole
/// rows; a length outside [0, cols] is clamped. Throws Error(bad_input) for shapes that do not
/// agree.
void softmax(Stream& stream, const TensorView& y, const TensorView& x,
             const TensorView& lengths = {}, const SoftmaxOptions& options = {});

}  // namespace rooftile
