// SPDX-License-Identifier: Apache-2.0
// FP4 of OCP Microscaling Formats v1.0, section 5.3.3. Every code is a finite number, so overflow
// saturates in either mode and NaN becomes +6 (as PTX cvt.satfinite): a block that may hold NaN
// says so in its scale (mx.h, nvfp4.h). Memory packs two into a byte (packing.h).
//
//   bit          3 2  1  0
//   e2m1     | s | ee | m |       bias 1: 0 0.5 1 1.5 2 3 4 6
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct e2m1 {
  uint8_t bits;  // the low 4
  static constexpr FloatFormat kFormat{2, 1, 1, Specials::none};
  static constexpr Overflow kOverflow = Overflow::saturate;
  template <class Source>
  ROOFTILE_HD static constexpr e2m1 from(Source value, Overflow overflow, Rounding rounding) {
    return {static_cast<uint8_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return decode_bits<kFormat>(bits); }
};

}  // namespace rooftile
