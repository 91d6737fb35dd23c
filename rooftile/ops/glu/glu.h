// SPDX-License-Identifier: Apache-2.0
// The gated linear unit of transformers (Shazeer, "GLU Variants Improve Transformer", 2020):
//   y[r,c] = act(gate[r,c]) * up[r,c]
#pragma once

#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// With g = min(gate, limit) and u = clamp(up, -limit, limit), y = act(alpha g) / alpha (u +
/// offset). gpt-oss: {.limit = 7, .alpha = 1.702, .up_offset = 1}.
struct GluOptions {
  std::string_view act = "silu";  // of activation_names(): silu is SwiGLU, gelu GeGLU
  double limit = 0;               // 0: none. The gate is clamped from above only
  double alpha = 1;               // silu(alpha g) / alpha is g sigmoid(alpha g)
  double up_offset = 0;
};

/// y, gate, up: [rows, cols], f32, bf16 or fp16 each; y may be gate or up. gate and up are views
/// with strides of their own: the halves of one buffer [rows, 2 cols], or its even and odd columns.
/// Throws Error(bad_input) for shapes that do not agree.
void glu(Stream& stream, const TensorView& y, const TensorView& gate, const TensorView& up,
         const GluOptions& options = {});

}  // namespace rooftile
