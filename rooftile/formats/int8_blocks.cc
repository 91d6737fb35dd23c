// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int8_blocks.h"

#include <cmath>

#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

float quantise_block(const float* values, std::int8_t* codes) {
  const float amax = finite_amax({values, static_cast<std::size_t>(kInt8Block)});
  const float inverse = amax >= kLeastInt8Amax ? 127.0F / amax : 0.0F;  // 0 for NaN too
  for (int i = 0; i < kInt8Block; ++i) {
    const float level = inverse == 0 ? 0.0F : values[i] * inverse;
    codes[i] = static_cast<std::int8_t>(std::nearbyint(level));
  }
  return amax < kLeastInt8Amax ? 0.0F : amax / 127.0F;
}

}  // namespace

void quantise_int8_blocks(const float* values, std::int64_t n, std::int8_t* codes, float* scales) {
  if (n % kInt8Block != 0)
    fail_input(std::to_string(n) + " values are no whole number of int8 blocks of 32");
  for (std::int64_t i = 0; i < n; i += kInt8Block)
    scales[i / kInt8Block] = quantise_block(values + i, codes + i);
}

}  // namespace rooftile
