// SPDX-License-Identifier: Apache-2.0
// The activations of core/expression.h as the cpu's vector code names them (simd_activation.inc).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "rooftile/core/expression.h"

namespace rooftile {

/// In the order of activation_names().
enum class Act : std::uint8_t { none, relu, silu, gelu, gelu_tanh, sigmoid, tanh };

/// The one with this name, which is among activation_names().
inline Act act_of(std::string_view name) {
  const auto names = activation_names();
  return static_cast<Act>(std::ranges::find(names, name) - names.begin());
}

}  // namespace rooftile
