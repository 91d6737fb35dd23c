// SPDX-License-Identifier: Apache-2.0
// Activations as int8 for integer dot products with quantised weights: blocks of 32 values with one
// f32 scale, value = code * scale. Unlike int8.h, every step is one f32 operation, so that vector
// code gives the same bits without a division for each value:
//
//   scale = amax / 127     code = round(value * (127 / amax)), ties to even; -127 to 127
//
// Blocks with an amax below 2^-100 become zeros (127 / amax might overflow), with scale 0. Values
// that are no numbers: as block.h says.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

inline constexpr std::int64_t kInt8Block = 32;
/// Below this a block counts as zeros.
inline constexpr float kLeastInt8Amax = 0x1p-100F;

/// Codes of n values and scales of n / 32 blocks. Throws Error(bad_input) when n is no multiple of
/// 32.
void quantise_int8_blocks(const float* values, std::int64_t n, std::int8_t* codes, float* scales);

}  // namespace rooftile
