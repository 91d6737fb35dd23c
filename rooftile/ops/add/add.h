// SPDX-License-Identifier: Apache-2.0
// Sum of two matrices, element by element:  y[r,c] = a[r,c] + b[r,c]
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// y, a, b: [rows, cols], f32, bf16 or fp16 each; computed in f32. y may be a or b; b's (or a's)
/// row stride may be 0, which applies one row to all. Throws Error(bad_input) for shapes that do
/// not agree.
void add(Stream& stream, const TensorView& y, const TensorView& a, const TensorView& b);

}  // namespace rooftile
