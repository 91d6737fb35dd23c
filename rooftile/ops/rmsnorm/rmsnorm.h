// SPDX-License-Identifier: Apache-2.0
// Root-mean-square normalisation (Zhang and Sennrich, 2019), with an optional residual add:
//   y[r,c] = x[r,c] / sqrt(mean_c(x[r,c]^2) + eps) * (w[c] + weight_offset)
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

struct RmsnormOptions {
  double eps = 1e-6;      // inside the root
  int weight_offset = 0;  // 1 where the model stores w - 1 (Gemma)
  /// Llama's order: the normalised value is rounded to x's dtype before the weight is applied.
  bool round_early = false;
};

/// y, x: [rows, cols]; w: [cols]; f32, bf16 or fp16 each. y may be x. Throws Error(bad_input) for
/// shapes that do not agree, Error(unsupported) with each kernel's reason.
void rmsnorm(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& w,
             const RmsnormOptions& options = {});

/// The fused residual add: sum = x + residual (rounded to its dtype), y = rmsnorm(sum). `sum` may
/// be x or residual.
void add_rmsnorm(Stream& stream, const TensorView& y, const TensorView& sum, const TensorView& x,
                 const TensorView& residual, const TensorView& w,
                 const RmsnormOptions& options = {});

}  // namespace rooftile
