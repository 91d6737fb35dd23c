// SPDX-License-Identifier: Apache-2.0
// Rows whose squares leave f32's range, for kernels on a GPU: they are scaled by a power of two,
// which is exact, and so are their squares. Device code.
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile::ops {

/// 1, or what to multiply a row by before its squares, whose sum `total` overflowed or is so small
/// that bits may be lost; then eps does not outweigh it.
__device__ inline float range_scale(float total, double eps) {
  constexpr float kLeastSum = 1e-20F;
  constexpr float kMostSum = 1e38F;
  if (!(total <= kMostSum)) return 0x1p-96F;
  return total + static_cast<float>(eps) < kLeastSum ? 0x1p96F : 1.0F;
}

/// 1 / sqrt(mean + eps) of a row scaled by `scale`, the sum of whose squares is `total`.
__device__ inline float root_of(float total, long long cols, double eps, float scale) {
  const auto scaled_eps = static_cast<float>(eps * scale * scale);
  // Of zeros alone: eps would have been left, had the scale not taken it below f32's range.
  if (total == 0.0F && scaled_eps == 0.0F && eps > 0) return 0.0F;
  return 1.0F / sqrtf(total / static_cast<float>(cols) + scaled_eps);
}

}  // namespace rooftile::ops
