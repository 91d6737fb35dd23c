// SPDX-License-Identifier: Apache-2.0
// A matrix times a number:  y[r,c] = alpha * x[r,c]. With alpha 1 a copy, which may convert the
// type ("cast").
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"
#include "rooftile/formats/rounding.h"

namespace ROOFTILE_API rooftile {

/// y, x: [rows, cols], f32, bf16, fp16, e4m3 or e5m2 each; y may be x. alpha is rounded to f32, the
/// product is computed in it and rounded to nearest even; NaN, infinities, -0 and subnormals stay
/// what they are. Beyond its range fp8 becomes what `overflow` says, the wider types infinity.
/// Throws Error(bad_input) for shapes that do not agree or an alpha that is not finite.
void scaled_copy(Stream& stream, const TensorView& y, const TensorView& x, double alpha = 1,
                 Overflow overflow = Overflow::saturate);

}  // namespace rooftile
