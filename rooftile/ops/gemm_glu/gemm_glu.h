// SPDX-License-Identifier: Apache-2.0
// Two matrix products of the same rows, one of which gates the other: the first half of a gated
// feed-forward layer, without its two intermediate matrices.
#pragma once

#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// d = act(a gate) * (a up). d: [m, n], a: [m, k], gate, up: [k, n]; f32, bf16 or fp16 each,
/// accumulated in f32 and rounded once. A weight stored as [n, k] is passed as transposed(weight).
/// `act`: a name that activation() knows; silu is SwiGLU, gelu is GeGLU. Throws Error(bad_input)
/// for shapes that do not agree.
void gemm_glu(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& gate,
              const TensorView& up, std::string_view act = "silu");

}  // namespace rooftile
