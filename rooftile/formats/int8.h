// SPDX-License-Identifier: Apache-2.0
// Symmetric int8, one f32 scale for each group of consecutive values (a row, a token, a channel):
// value = code * scale, code from -127 to 127, so that negating a tensor negates its codes.
//
//   codes   | i8 | i8 | ...             scales   | f32 of group 0 | f32 of group 1 | ...
#pragma once

#include <cstdint>
#include <span>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Quantises consecutive values in groups of `group` elements (-1: one group; the last may be
/// shorter). `scales` has one for each started group: amax / 127, or 1 for a group of zeros. Groups
/// with NaN or infinity decode to NaN (see block.h). Throws Error(bad_input) for a wrong length.
void quantise_int8(std::span<std::int8_t> codes, std::span<float> scales,
                   std::span<const float> values, std::int64_t group);

/// The values, the product rounded once.
void dequantise_int8(std::span<float> values, std::span<const std::int8_t> codes,
                     std::span<const float> scales, std::int64_t group);

}  // namespace rooftile
