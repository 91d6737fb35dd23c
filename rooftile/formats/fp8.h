// SPDX-License-Identifier: Apache-2.0
// The four FP8 types: OCP 8-bit Floating Point Specification v1.0 (e4m3, e5m2) and the "fnuz" pair
// of Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022, as AMD MI300 computes.
//
//   bit           7 6     3 2   0                      7 6       2 1 0
//   e4m3      | s | eeee | mmm |          e5m2      | s | eeeee | mm |
//   bias 7, to 448, NaN 0x7f 0xff         bias 15, to 57344, infinity 0x7c, NaN 0x7d-0x7f
//   fnuz: bias 8, to 240, NaN 0x80        fnuz: bias 16, to 57344, NaN 0x80
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

/// OCP E4M3 ("fn"): no infinity.
struct e4m3 {
  uint8_t bits;
  static constexpr FloatFormat kFormat{4, 3, 7, Specials::one_nan};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e4m3 from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

/// OCP E5M2: IEEE-like.
struct e5m2 {
  uint8_t bits;
  static constexpr FloatFormat kFormat{5, 2, 15, Specials::ieee};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e5m2 from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

struct e4m3fnuz {
  uint8_t bits;
  static constexpr FloatFormat kFormat{4, 3, 8, Specials::negative_zero_nan};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e4m3fnuz from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

struct e5m2fnuz {
  uint8_t bits;
  static constexpr FloatFormat kFormat{5, 2, 16, Specials::negative_zero_nan};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e5m2fnuz from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

/// The fnuz code that stands for half of `value`, so that weights of one kind run on hardware of
/// the other after doubling their scale. The bits stay the same but for -0 (to 0) and NaN (to
/// 0x80).
ROOFTILE_HD constexpr e4m3fnuz halved_as_fnuz(e4m3 value) {
  if (e4m3::kFormat.is_nan(value.bits)) return {0x80};
  return {value.bits == 0x80 ? uint8_t{0} : value.bits};
}

}  // namespace rooftile
