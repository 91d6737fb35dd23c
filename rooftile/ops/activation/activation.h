// SPDX-License-Identifier: Apache-2.0
// An activation, element by element:  y[r,c] = act(x[r,c])
#pragma once

#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// y, x: [rows, cols], f32, bf16 or fp16 each; y may be x. `act` is one of activation_names()
/// (core/expression.h): none relu silu gelu gelu_tanh sigmoid tanh. Throws Error(bad_input) for
/// another name or shapes that do not agree.
void activate(Stream& stream, const TensorView& y, const TensorView& x, std::string_view act);

}  // namespace rooftile
