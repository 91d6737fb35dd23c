// SPDX-License-Identifier: Apache-2.0
// Rows whose squares leave f32's range, for kernels on a GPU: they are scaled by a power of two,
// which is exact, and so are their squares. Device code.
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/approximate.h"

namespace rooftile::ops {

/// 1, or what to multiply a row by before its squares, whose sum `total` overflowed or is so small
/// that bits may be lost; then eps does not outweigh it.
__device__ inline float range_scale(float total, float eps) {
  constexpr float kLeastSum = 1e-20F;
  constexpr float kMostSum = 1e38F;
  if (!(total <= kMostSum)) return 0x1p-96F;
  return total + eps < kLeastSum ? 0x1p96F : 1.0F;
}

/// 1 / sqrt(mean + eps), to 3 in the last place, of a row scaled by `scale`, the sum of whose
/// squares is `total`; `inverse` is 1 / columns. Why no divisions: a row's threads all wait for
/// this.
__device__ inline float root_of(float total, float inverse, float eps, float scale) {
  const float scaled_eps = eps * scale * scale;
  // Of zeros alone: eps would have been left, had the scale not taken it below f32's range.
  if (total == 0.0F && scaled_eps == 0.0F && eps > 0.0F) return 0.0F;
  return rsqrt_approx(fmaf(total, inverse, scaled_eps));
}

}  // namespace rooftile::ops
