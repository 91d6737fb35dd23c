// SPDX-License-Identifier: Apache-2.0
// E8M0, the block scale of OCP Microscaling Formats v1.0 section 5.4.1: a power of two without
// sign. Code 0 is 2^-127 (a subnormal float), code 254 is 2^127, code 255 is NaN. There is no zero.
//
//   bit        7      0
//           | eeeeeeee |       value = 2^(bits - 127)
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct e8m0 {
  uint8_t bits;
  static constexpr uint8_t kNan = 255;
  static constexpr uint8_t kMax = 254;
  static constexpr int kBias = 127;

  ROOFTILE_HD explicit constexpr operator float() const {
    if (bits == kNan) return __builtin_bit_cast(float, 0x7fc00000U);
    return __builtin_bit_cast(float, bits == 0 ? 0x00400000U : static_cast<uint32_t>(bits) << 23);
  }
};

/// A positive finite number as fraction * 2^exponent with 1 <= fraction < 2, the fraction in the 52
/// bits of a double's mantissa.
struct SplitNumber {
  int exponent;
  uint64_t fraction;
};

ROOFTILE_HD constexpr SplitNumber split_number(double positive) {
  constexpr uint64_t kHidden = uint64_t{1} << 52;
  const auto bits = __builtin_bit_cast(uint64_t, positive);
  if (bits >= kHidden) return {static_cast<int>(bits >> 52) - 1023, bits & (kHidden - 1)};
  uint64_t fraction = bits;
  int exponent = -1022;
  for (; fraction < kHidden; fraction <<= 1) --exponent;
  return {exponent, fraction & (kHidden - 1)};
}

/// The scale 2^exponent, held within what the type can say; never NaN.
ROOFTILE_HD constexpr e8m0 e8m0_of_exponent(int exponent) {
  const int code = exponent + e8m0::kBias;
  return {static_cast<uint8_t>(code < 0 ? 0 : code > e8m0::kMax ? e8m0::kMax : code)};
}

/// The power of two below (floor), above (ceil) or nearest (even) `value`. Why 1.5 * 2^n goes up:
/// the significand is what rounds to even, and of 1 and 2 that is 2. NaN and negative numbers give
/// NaN. Zero, and what rounds past 2^127, give the nearest code there is or NaN, by `overflow`.
ROOFTILE_HD constexpr e8m0 to_e8m0(double value, ScaleRounding rounding = ScaleRounding::even,
                                   Overflow overflow = Overflow::saturate) {
  if (!(value >= 0)) return {e8m0::kNan};
  const bool saturates = overflow == Overflow::saturate;
  if (value == 0) return {saturates ? uint8_t{0} : e8m0::kNan};
  const SplitNumber split = split_number(value);
  bool up = false;
  if (rounding == ScaleRounding::ceil) up = split.fraction != 0;
  if (rounding == ScaleRounding::even) up = split.fraction >= uint64_t{1} << 51;
  const int exponent = split.exponent + (up ? 1 : 0);
  if (exponent > 127 && !saturates) return {e8m0::kNan};
  return e8m0_of_exponent(exponent);
}

/// The scale of a block whose greatest magnitude is `amax` and whose elements have format
/// `element`. Exact: no logarithm, no division. amax = 0 gives 2^-127; NaN and infinity give NaN,
/// so that the whole block decodes to NaN; every other amax gives a number.
ROOFTILE_HD constexpr e8m0 block_scale(float amax, FloatFormat element,
                                       ScaleRounding rounding = ScaleRounding::floor) {
  if (!(amax >= 0) || __builtin_bit_cast(uint32_t, amax) == 0x7f800000U) return {e8m0::kNan};
  if (amax == 0) return {0};
  const SplitNumber split = split_number(static_cast<double>(amax));
  const int mantissa = element.mantissa_bits;
  bool up = false;
  if (rounding == ScaleRounding::ceil) {
    const uint64_t most = element.max_code() & ((1U << mantissa) - 1);
    up = split.fraction > most << (52 - mantissa);
  }
  if (rounding == ScaleRounding::even) {  // 1.1...1|1 and more carry into the next power of two
    const uint64_t carries = (uint64_t{2} << mantissa) - 1;
    up = split.fraction >= carries << (51 - mantissa);
  }
  return e8m0_of_exponent(split.exponent - element.max_exponent() + (up ? 1 : 0));
}

}  // namespace rooftile
