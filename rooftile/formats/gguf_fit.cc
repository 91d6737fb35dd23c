// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rooftile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The least and greatest value, both NaN if any value is NaN or infinite.
struct ValueRange {
  float least;
  float most;
};

ValueRange range_of(std::span<const float> values) {
  ValueRange range{values.front(), values.front()};
  for (const float value : values) {
    if (!std::isfinite(value)) return {kNan, kNan};
    range.least = std::min(range.least, value);
    range.most = std::max(range.most, value);
  }
  return range;
}

// The distance between two codes. Halved on the way: the difference of two floats may be no float.
float step_of(ValueRange range, int most_code) {
  return (range.most / 2 - range.least / 2) / static_cast<float>(most_code) * 2;
}

std::span<const float> sub_block_of(std::span<const float, 256> values, int index, int size) {
  return std::span<const float>(values).subspan(static_cast<std::size_t>(index * size),
                                                static_cast<std::size_t>(size));
}

// The common scale of whole numbers to `most` that stand for `parts`; NaN if any part is NaN.
fp16 common_scale(std::span<const float> parts, int most) {
  float greatest = 0;
  for (const float part : parts) {
    if (std::isnan(part)) return kGgufNan;
    greatest = std::max(greatest, std::fabs(part));
  }
  return to_gguf_scale(greatest / static_cast<float>(most));
}

}  // namespace

int gguf_code(float value, float scale, int least, int most) {
  const float code = scale == 0 || std::isnan(scale) ? 0 : std::nearbyint(value / scale);
  return static_cast<int>(std::clamp(code, static_cast<float>(least), static_cast<float>(most)));
}

float signed_amax(std::span<const float> values) {
  float amax = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return kNan;
    if (std::fabs(value) > std::fabs(amax)) amax = value;
  }
  return amax;
}

AffineFit fit_affine(std::span<const float> values, int most_code) {
  const ValueRange range = range_of(values);
  return {to_gguf_scale(step_of(range, most_code)), to_gguf_scale(range.least)};
}

int AffineFit::code(float value, int most_code) const {
  return gguf_code(value - static_cast<float>(m), static_cast<float>(d), 0, most_code);
}

MinFit fit_with_min(std::span<const float, 256> values, int sub_block, int most_code,
                    int most_scale) {
  const int count = 256 / sub_block;
  std::array<float, 16> scales{}, mins{};
  for (int j = 0; j < count; ++j) {
    ValueRange range = range_of(sub_block_of(values, j, sub_block));
    if (range.least > 0) range.least = 0;
    if (range.most < 0) range.most = 0;
    scales.at(static_cast<std::size_t>(j)) = step_of(range, most_code);
    mins.at(static_cast<std::size_t>(j)) = -range.least;
  }
  MinFit fit{.d = common_scale(scales, most_scale), .dmin = common_scale(mins, most_scale)};
  for (std::size_t j = 0; j < static_cast<std::size_t>(count); ++j) {
    fit.scale.at(j) = gguf_code(scales.at(j), static_cast<float>(fit.d), 0, most_scale);
    fit.min.at(j) = gguf_code(mins.at(j), static_cast<float>(fit.dmin), 0, most_scale);
  }
  return fit;
}

int MinFit::code(float value, int j, int most_code) const {
  const auto at = static_cast<std::size_t>(j);
  const float min_value = static_cast<float>(dmin) * static_cast<float>(min.at(at));
  const float step = static_cast<float>(d) * static_cast<float>(scale.at(at));
  return gguf_code(value + min_value, step, 0, most_code);
}

SignedFit fit_signed(std::span<const float, 256> values, int range, int most_scale) {
  std::array<float, 16> scales{};
  for (int j = 0; j < 16; ++j)
    scales.at(static_cast<std::size_t>(j)) =
        signed_amax(sub_block_of(values, j, 16)) / static_cast<float>(-range);
  SignedFit fit{.d = common_scale(scales, most_scale)};
  for (std::size_t j = 0; j < 16; ++j)
    fit.scale.at(j) = gguf_code(scales.at(j), static_cast<float>(fit.d), -most_scale, most_scale);
  return fit;
}

int SignedFit::code(float value, int j, int least_code, int most_code) const {
  const auto at = static_cast<std::size_t>(j);
  return gguf_code(value, static_cast<float>(d) * static_cast<float>(scale.at(at)), least_code,
                   most_code);
}

}  // namespace rooftile
