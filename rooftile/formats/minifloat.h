// SPDX-License-Identifier: Apache-2.0
// The one codec of all small binary floating-point types. A format is four facts; encoding and
// decoding follow from them (IEEE 754-2019 section 3.4 and 4.3, OCP FP8 v1.0, OCP MX v1.0
// section 5.3).
//
//   | sign: 1 | exponent: E, biased | mantissa: M |      value = 1.mantissa * 2^(exponent - bias)
//                                                        exponent 0: 0.mantissa * 2^(1 - bias)
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"
#include "rooftile/formats/rounding.h"

namespace ROOFTILE_API rooftile {

/// Which codes are not numbers.
enum class Specials : uint8_t {
  ieee,               // exponent all ones: infinity, or NaN where the mantissa is not 0
  one_nan,            // "fn": all ones but the sign is NaN; no infinity
  negative_zero_nan,  // "fnuz": the code of -0 is the only NaN; no infinity and no -0
  none,               // every code is a finite number
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  [[nodiscard]] ROOFTILE_HD constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] ROOFTILE_HD constexpr int min_exponent() const { return 1 - bias; }
  [[nodiscard]] ROOFTILE_HD constexpr uint32_t sign_mask() const { return 1U << (bits() - 1); }
  [[nodiscard]] ROOFTILE_HD constexpr uint32_t infinity_code() const {
    return ((1U << exponent_bits) - 1) << mantissa_bits;
  }
  [[nodiscard]] ROOFTILE_HD constexpr uint32_t max_code() const {
    if (specials == Specials::ieee) return infinity_code() - 1;
    return sign_mask() - (specials == Specials::one_nan ? 2 : 1);
  }
  /// The exponent of the greatest finite number.
  [[nodiscard]] ROOFTILE_HD constexpr int max_exponent() const {
    return static_cast<int>(max_code() >> mantissa_bits) - bias;
  }
  /// `sign` is 0 or sign_mask(). A format without NaN gives +maximum, as PTX cvt.satfinite does.
  [[nodiscard]] ROOFTILE_HD constexpr uint32_t nan_code(uint32_t sign) const {
    if (specials == Specials::ieee) return sign | infinity_code() | (1U << (mantissa_bits - 1));
    if (specials == Specials::one_nan) return sign | (sign_mask() - 1);
    return specials == Specials::negative_zero_nan ? sign_mask() : max_code();
  }
  [[nodiscard]] ROOFTILE_HD constexpr bool is_nan(uint32_t code) const {
    if (specials == Specials::ieee) return (code & (sign_mask() - 1)) > infinity_code();
    if (specials == Specials::one_nan) return (code & (sign_mask() - 1)) == sign_mask() - 1;
    return specials == Specials::negative_zero_nan && code == sign_mask();
  }
  [[nodiscard]] ROOFTILE_HD constexpr bool is_infinite(uint32_t code) const {
    return specials == Specials::ieee && (code & (sign_mask() - 1)) == infinity_code();
  }
};

/// How the source of a conversion is laid out.
template <class Source>
struct IeeeSource;
template <>
struct IeeeSource<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23, kBias = 127;
  static constexpr Bits kSign = 0x80000000U, kInfinity = 0x7f800000U;
};
template <>
struct IeeeSource<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52, kBias = 1023;
  static constexpr Bits kSign = 0x8000000000000000U, kInfinity = 0x7ff0000000000000U;
};

/// `significand` without its last `drop` bits, rounded; 0 < drop < the width of Bits.
template <class Bits>
ROOFTILE_HD constexpr Bits drop_bits(Bits significand, int drop, Rounding rounding) {
  const Bits kept = significand >> drop;
  const Bits rest = significand & ((Bits{1} << drop) - 1);
  const Bits half = Bits{1} << (drop - 1);
  if (rounding == Rounding::toward_zero || rest < half) return kept;
  if (rest == half && rounding == Rounding::nearest_even) return kept + (kept & 1);
  return kept + 1;
}

/// The code of `value` in format F, in the low F.bits() bits. Rounds once, whatever the source.
/// NaN keeps its sign and loses its payload.
template <FloatFormat F, class Source>
ROOFTILE_HD constexpr uint32_t encode_bits(Source value, Overflow overflow,
                                           Rounding rounding = Rounding::nearest_even) {
  using From = IeeeSource<Source>;
  using Bits = typename From::Bits;
  static_assert(F.min_exponent() >= 1 - From::kBias && F.mantissa_bits < From::kMantissaBits);
  const auto bits = __builtin_bit_cast(Bits, value);
  const Bits magnitude = bits & ~From::kSign;
  const uint32_t sign = magnitude != bits ? F.sign_mask() : 0;
  if (magnitude > From::kInfinity) return F.nan_code(sign);

  const int biased = static_cast<int>(magnitude >> From::kMantissaBits);
  const Bits hidden = Bits{biased != 0} << From::kMantissaBits;
  const Bits significand = (magnitude & ((Bits{1} << From::kMantissaBits) - 1)) | hidden;
  // Subnormals of F end at the same place as its least normal numbers.
  const int exponent = (biased != 0 ? biased : 1) - From::kBias;
  const int below = exponent < F.min_exponent() ? F.min_exponent() - exponent : 0;
  const int wanted = From::kMantissaBits - F.mantissa_bits + below;
  // Why the bound: one bit more than the significand has, so that all of it is less than half.
  const int drop = wanted < From::kMantissaBits + 2 ? wanted : From::kMantissaBits + 2;
  const Bits rounded = drop_bits(significand, drop, rounding);
  // The hidden bit and a carry out of the mantissa both count up the exponent.
  const auto steps = static_cast<Bits>(exponent + below - F.min_exponent());
  const Bits code = (steps << F.mantissa_bits) + rounded;

  if (code > F.max_code()) {
    const bool is_infinite = magnitude == From::kInfinity;
    if (overflow == Overflow::saturate || F.specials == Specials::none ||
        (rounding == Rounding::toward_zero && !is_infinite))
      return sign | F.max_code();
    return F.specials == Specials::ieee ? sign | F.infinity_code() : F.nan_code(sign);
  }
  if (F.specials == Specials::negative_zero_nan && code == 0) return 0;
  return sign | static_cast<uint32_t>(code);
}

/// The value of a code; exact. NaN is the quiet one, with the code's sign.
template <FloatFormat F>
ROOFTILE_HD constexpr float decode_bits(uint32_t code) {
  static_assert(F.min_exponent() - F.mantissa_bits >= -126, "a float must hold its subnormals");
  const uint32_t sign = code & F.sign_mask() ? 0x80000000U : 0;
  if (F.is_nan(code)) return __builtin_bit_cast(float, sign | 0x7fc00000U);
  if (F.is_infinite(code)) return __builtin_bit_cast(float, sign | 0x7f800000U);
  const uint32_t magnitude = code & (F.sign_mask() - 1);
  if (magnitude >> F.mantissa_bits == 0) {
    constexpr uint32_t kStep = static_cast<uint32_t>(F.min_exponent() - F.mantissa_bits + 127)
                               << 23;
    const float absolute = static_cast<float>(magnitude) * __builtin_bit_cast(float, kStep);
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, absolute));
  }
  constexpr uint32_t kRebias = static_cast<uint32_t>(127 - F.bias) << 23;
  return __builtin_bit_cast(float, sign | ((magnitude << (23 - F.mantissa_bits)) + kRebias));
}

/// The element nearest to `value` (or by `rounding`): encode<e4m3>(0.3f). Each element type states
/// its own overflow behaviour in Element::kOverflow.
template <class Element, class Source>
ROOFTILE_HD constexpr Element encode(Source value, Overflow overflow = Element::kOverflow,
                                     Rounding rounding = Rounding::nearest_even) {
  return Element::from(value, overflow, rounding);
}

}  // namespace rooftile
