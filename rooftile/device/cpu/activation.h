// SPDX-License-Identifier: Apache-2.0
// The activations of core/expression.h as kernels know them (simd_activation.inc,
// tile/activation.h), by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/tile/act.h"

namespace rooftile {

/// The one with this name. Throws Error(internal) for one that expressions know and this does not.
inline Act act_of(std::string_view name) {
  constexpr std::pair<std::string_view, Act> kActs[] = {
      {"none", Act::none}, {"relu", Act::relu},           {"silu", Act::silu},
      {"gelu", Act::gelu}, {"gelu_tanh", Act::gelu_tanh}, {"sigmoid", Act::sigmoid},
      {"tanh", Act::tanh}};
  for (const auto& [known, act] : kActs)
    if (known == name) return act;
  throw Error(ErrorCode::internal,
              "kernels do not know the activation '" + std::string(name) + "'");
}

}  // namespace rooftile
