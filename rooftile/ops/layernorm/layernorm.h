// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba, Kiros and Hinton, 2016), with an optional residual add:
//   y[r,c] = (x[r,c] - mean_c(x[r,c])) / sqrt(var_c(x[r,c]) + eps) * w[c] + b[c]
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// y, x: [rows, cols]; w, b: [cols], either may be absent ({}): 1 and 0; f32, bf16 or fp16 each.
/// The variance is that of the population (divided by cols); eps >= 0 stands inside the root. y may
/// be x. Throws Error(bad_input) for shapes that do not agree, Error(unsupported) with each
/// kernel's reason.
void layernorm(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& w,
               const TensorView& b, double eps = 1e-5);

/// The fused residual add: sum = x + residual (rounded to its dtype), y = layernorm(sum). `sum` may
/// be x or residual.
void add_layernorm(Stream& stream, const TensorView& y, const TensorView& sum, const TensorView& x,
                   const TensorView& residual, const TensorView& w, const TensorView& b,
                   double eps = 1e-5);

}  // namespace rooftile
