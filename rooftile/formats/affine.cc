// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/affine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

// Never 0, so that dividing by it is safe, and never so small that it loses its precision.
float usable_scale(double exact) {
  if (exact == 0) return 1;
  return static_cast<float>(std::max(exact, double{std::numeric_limits<float>::min()}));
}

}  // namespace

Affine symmetric_affine(std::span<const float> values, IntegerRange range) {
  const double amax = finite_amax(values);
  if (std::isnan(amax)) return {std::numeric_limits<float>::quiet_NaN()};
  return {usable_scale(amax / range.most)};
}

Affine asymmetric_affine(std::span<const float> values, IntegerRange range) {
  double least = 0, most = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return {std::numeric_limits<float>::quiet_NaN()};
    least = std::min<double>(least, value);
    most = std::max<double>(most, value);
  }
  const float scale = usable_scale((most - least) / (range.most - range.least));
  return {scale, round_to_range(range.least - least / scale, range)};
}

int encode_affine(float value, const Affine& affine, IntegerRange range) {
  if (std::isnan(affine.scale)) return affine.zero_point;
  const double level = std::nearbyint(value / static_cast<double>(affine.scale));
  return round_to_range(level + affine.zero_point, range);
}

int round_to_range(double level, IntegerRange range) {
  if (std::isnan(level)) level = 0;
  const double rounded = std::nearbyint(level);
  return static_cast<int>(std::clamp<double>(rounded, range.least, range.most));
}

}  // namespace rooftile
