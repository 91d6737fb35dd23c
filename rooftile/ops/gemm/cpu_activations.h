// SPDX-License-Identifier: Apache-2.0
// Rows of A made ready for weights in blocks: widened to f32, rounded to int8 blocks and back
// (formats/int8_blocks.h), or as int8 for integer dot products.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/cpu_gemm.h"

namespace rooftile::ops::gemm {

/// Row `row` of A as f32, any strides; k of it.
void widen_row(const Matrix& a, std::int64_t row, std::int64_t k, float* to);

/// Each block of 32 as its int8 code times its scale. k is a multiple of 32.
void round_row(float* row, std::int64_t k);

/// A row in int8 blocks, and what weights with an offset (a minimum, or a code that means 0) need:
/// sum (d * code + offset) * a = d * sum code * a + offset * sum a.
struct Int8Row {
  std::int8_t* codes;  // [k]
  /// [k / 32 + 1][2]: the scale of a block, and scale * factor * (the sum of its codes)
  float* pairs;
  std::int16_t* sums;  // [k / 16]: of 16 codes
};

/// Bytes of such a row, a multiple of 64; k is a multiple of 32.
constexpr std::int64_t int8_row_bytes(std::int64_t k) {
  return (k + k / 4 + 8 + k / 8 + 63) / 64 * 64;
}
inline Int8Row int8_row(void* memory, std::int64_t k) {
  auto* bytes = static_cast<char*>(memory);
  return {.codes = reinterpret_cast<std::int8_t*>(bytes),
          .pairs = reinterpret_cast<float*>(bytes + k),
          .sums = reinterpret_cast<std::int16_t*>(bytes + k + k / 4 + 8)};
}

/// `row` is f32. The codes and scales are those of quantise_int8_blocks, bit for bit.
void quantise_row(const float* row, std::int64_t k, float factor, const Int8Row& to);

}  // namespace rooftile::ops::gemm
