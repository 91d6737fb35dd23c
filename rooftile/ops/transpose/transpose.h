// SPDX-License-Identifier: Apache-2.0
// A matrix with its axes exchanged, in memory:  y[c,r] = x[r,c]
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// y: [cols, rows], x: [rows, cols], both f32, bf16 or fp16; the bits are moved, nothing is
/// rounded. y may not be x. Throws Error(bad_input) for shapes or types that do not agree.
void transpose(Stream& stream, const TensorView& y, const TensorView& x);

}  // namespace rooftile
