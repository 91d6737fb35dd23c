// SPDX-License-Identifier: Apache-2.0
// The activations of core/expression.h by number, as kernels on CPUs and GPUs take them.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

enum class Act : uint8_t { none, relu, silu, gelu, gelu_tanh, sigmoid, tanh };

}  // namespace rooftile
