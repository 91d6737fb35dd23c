// SPDX-License-Identifier: Apache-2.0
// Integer codes for real values: value = (code - zero_point) * scale. How the two are chosen, and
// the one place where codes are rounded and clamped, always before anything is packed.
#pragma once

#include <span>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct IntegerRange {
  int least;
  int most;
};

constexpr IntegerRange signed_range(int bits) {
  return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1};
}
constexpr IntegerRange unsigned_range(int bits) { return {0, (1 << bits) - 1}; }

struct Affine {
  float scale;         // NaN for values with a NaN or an infinity among them
  int zero_point = 0;  // the code of 0
};

/// amax / range.most, and zero_point 0. All zeros give scale 1.
Affine symmetric_affine(std::span<const float> values, IntegerRange range);

/// The line through the least and greatest value, widened to contain 0 so that 0 has a code of its
/// own and zero_point lies within `range`. All zeros give scale 1.
Affine asymmetric_affine(std::span<const float> values, IntegerRange range);

/// round(value / scale) + zero_point, ties to even, clamped to `range`. A NaN scale gives
/// zero_point.
int encode_affine(float value, const Affine& affine, IntegerRange range);

/// (code - zero_point) * scale, rounded once.
inline float decode_affine(int code, const Affine& affine) {
  return static_cast<float>(static_cast<double>(code - affine.zero_point) * affine.scale);
}

/// The integer nearest to `level`, ties to even, clamped to `range`; NaN gives the code nearest to
/// 0.
int round_to_range(double level, IntegerRange range);

}  // namespace rooftile
