// SPDX-License-Identifier: Apache-2.0
// Matrix product with an epilogue: D = act(A·B + bias) + residual.
#pragma once

#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

struct GemmOptions {
  TensorView bias{};              // [n], absent for none
  TensorView residual{};          // [m, n], absent for none
  std::string_view act = "none";  // a name that activation() knows
  // "q8" with b in GGUF blocks: a is rounded to int8 in blocks of 32 (formats/int8_blocks.h).
  std::string_view activations = "exact";
};

/// d: [m, n], a: [m, k], b: [k, n]; f32, bf16 or fp16 each, accumulated in f32 and rounded once.
/// The layouts nn, nt, tn, tt are strides: a weight stored as [n, k] is passed as
/// transposed(weight). k = 0 is a product of zeros. b may also be GGUF blocks along k: transposed()
/// of a weight [n, k] as a model file has it, k a multiple of the block. Throws Error(bad_input)
/// for shapes that do not agree.
void gemm(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& b,
          const GemmOptions& options = {});

}  // namespace rooftile
