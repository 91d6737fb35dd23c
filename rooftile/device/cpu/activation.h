// SPDX-License-Identifier: Apache-2.0
// The activations of core/expression.h as the cpu's vector code names them (simd_activation.inc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/base/error.h"

namespace rooftile {

enum class Act : std::uint8_t { none, relu, silu, gelu, gelu_tanh, sigmoid, tanh };

/// The one with this name. Throws Error(internal) for one that expressions know and this does not.
inline Act act_of(std::string_view name) {
  constexpr std::pair<std::string_view, Act> kActs[] = {
      {"none", Act::none}, {"relu", Act::relu},           {"silu", Act::silu},
      {"gelu", Act::gelu}, {"gelu_tanh", Act::gelu_tanh}, {"sigmoid", Act::sigmoid},
      {"tanh", Act::tanh}};
  for (const auto& [known, act] : kActs)
    if (known == name) return act;
  throw Error(ErrorCode::internal,
              "the cpu's kernels do not know the activation '" + std::string(name) + "'");
}

}  // namespace rooftile
