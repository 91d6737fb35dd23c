// SPDX-License-Identifier: Apache-2.0
// Where the largest element of each row stands: greedy decoding.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// ids: [rows] i32; x: [rows, cols], f32, bf16 or fp16, with at least one column. Of equal elements
/// the one with the lowest index counts (-0 equals 0). A NaN is never chosen unless all elements
/// are NaN; then the index is 0. Throws Error(bad_input) for shapes that do not agree.
void argmax(Stream& stream, const TensorView& ids, const TensorView& x);

}  // namespace rooftile
