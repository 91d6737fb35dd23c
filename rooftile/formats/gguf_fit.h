// SPDX-License-Identifier: Apache-2.0
// What the quantisers of all GGUF block formats share. They round to nearest with scales from the
// least and greatest value of each (sub-)block, and take codes from the scales as stored; no search
// for better scales, no importance weights. Values that are no numbers: as block.h says.
#pragma once

#include <array>
#include <span>

#include "rooftile/formats/fp16.h"

namespace rooftile {

/// A scale in binary16. Values too large for it saturate: an infinite scale would make NaN of
/// zeros.
inline fp16 to_gguf_scale(float value) {
  return fp16::from(value, Overflow::saturate, Rounding::nearest_even);
}

/// A NaN: the scale of a block that holds a NaN or an infinity.
inline constexpr fp16 kGgufNan{0x7e00};

/// value / scale to the nearest integer, even at ties, within the bounds; 0 (or the bound nearest
/// to it) for scale 0.
int gguf_code(float value, float scale, int least, int most);

/// The value of the greatest magnitude, with its sign; NaN if any is NaN or infinite.
float signed_amax(std::span<const float> values);

/// Scale and minimum of a block, value = d * code + m: the least value gets the code 0, the
/// greatest `most_code`.
struct AffineFit {
  fp16 d;
  fp16 m;
  [[nodiscard]] int code(float value, int most_code) const;
};
AffineFit fit_affine(std::span<const float> values, int most_code);

/// Scales of a block of 256 in sub-blocks, value = d * scale * code - dmin * min. 0 counts as a
/// value of each sub-block, so that no min is negative.
struct MinFit {
  fp16 d;
  fp16 dmin;
  std::array<int, 16> scale{};
  std::array<int, 16> min{};

  /// The code of a value of sub-block j.
  [[nodiscard]] int code(float value, int j, int most_code) const;
};
MinFit fit_with_min(std::span<const float, 256> values, int sub_block, int most_code,
                    int most_scale);

/// Scales of a block of 256 in sub-blocks of 16, value = d * scale * code, where the value of the
/// greatest magnitude of each sub-block gets the code -`range`.
struct SignedFit {
  fp16 d;
  std::array<int, 16> scale{};

  /// The code of a value of sub-block j.
  [[nodiscard]] int code(float value, int j, int least_code, int most_code) const;
};
SignedFit fit_signed(std::span<const float, 256> values, int range, int most_scale);

}  // namespace rooftile
