// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/cpu_activations.h"

#include <cmath>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/int8_blocks.h"
#include "rooftile/formats/typed.h"
#include "rooftile/ops/gemm/cpu_pack.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/gemm/cpu_activations_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::gemm {
namespace {

// A row with a NaN or an infinity, where blocks become NaN: as the codec does it.
template <class Use>
void each_block(const float* row, std::int64_t k, Use use) {
  for (std::int64_t i = 0; i < k; i += kInt8Block) {
    std::int8_t codes[kInt8Block];
    float scale = 0;
    quantise_int8_blocks(row + i, kInt8Block, codes, &scale);
    use(i, codes, scale);
  }
}

}  // namespace

void widen_row(const Matrix& a, std::int64_t row, std::int64_t k, float* to) {
  static const auto widen = ROOFTILE_SIMD_CHOOSE(widen_contiguous);
  const std::int64_t first = row * a.row_stride;
  if (a.col_stride == 1) return widen(a.dtype, at(a.data, a.dtype, first), k, to);
  for (std::int64_t i = 0; i < k; ++i) to[i] = element(a.data, a.dtype, first + i * a.col_stride);
}

void round_row(float* row, std::int64_t k) {
  static const auto is_plain = ROOFTILE_SIMD_CHOOSE(is_finite);
  static const auto round = ROOFTILE_SIMD_CHOOSE(round_finite);
  if (is_plain(row, k)) return round(row, k);
  each_block(row, k, [&](std::int64_t first, const std::int8_t* codes, float scale) {
    for (int i = 0; i < kInt8Block; ++i) row[first + i] = static_cast<float>(codes[i]) * scale;
  });
}

void quantise_row(const float* row, std::int64_t k, float factor, const Int8Row& to) {
  static const auto is_plain = ROOFTILE_SIMD_CHOOSE(is_finite);
  static const auto quantise = ROOFTILE_SIMD_CHOOSE(quantise_finite);
  to.pairs[k / 16] = to.pairs[k / 16 + 1] = 0;
  if (is_plain(row, k)) return quantise(row, k, factor, to);
  each_block(row, k, [&](std::int64_t first, const std::int8_t* codes, float scale) {
    std::int16_t sums[2] = {0, 0};
    for (int i = 0; i < kInt8Block; ++i) {
      to.codes[first + i] = codes[i];
      sums[i / 16] = static_cast<std::int16_t>(sums[i / 16] + codes[i]);
    }
    to.sums[first / 16] = sums[0];
    to.sums[first / 16 + 1] = sums[1];
    to.pairs[first / 16] = scale;
    to.pairs[first / 16 + 1] = scale * (factor * static_cast<float>(sums[0] + sums[1]));
  });
}

}  // namespace rooftile::ops::gemm
