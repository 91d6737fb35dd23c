// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/cost.h"

namespace rooftile {

std::string_view name(Unit unit) {
  static constexpr std::array<std::string_view, kNumUnits> kNames{
      "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4", "special"};
  return kNames.at(static_cast<std::size_t>(unit));
}

}  // namespace rooftile
