// SPDX-License-Identifier: Apache-2.0
// The two FP6 types of OCP Microscaling Formats v1.0, section 5.3.2. Every code is a finite number,
// so overflow saturates in either mode and NaN becomes +maximum (as PTX cvt.satfinite): a block
// that may hold NaN says so in its scale (mx.h). Memory packs four into three bytes (packing.h).
//
//   bit          5 4   2 1 0                     5 4  3 2   0
//   e3m2     | s | eee | mm |         e2m3     | s | ee | mmm |
//   bias 3, to 28                     bias 1, to 7.5
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct e3m2 {
  uint8_t bits;  // the low 6
  static constexpr FloatFormat kFormat{3, 2, 3, Specials::none};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e3m2 from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

struct e2m3 {
  uint8_t bits;  // the low 6
  static constexpr FloatFormat kFormat{2, 3, 1, Specials::none};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e2m3 from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

}  // namespace rooftile
