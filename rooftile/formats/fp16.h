// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16. Overflow gives infinity. The fast conversions let the floating-point adder
// round and normalise subnormals (F. Giesen, "float->half variants", 2012).
//
//   bit       15 14   10 9          0
//           | s | eeeee | mmmmmmmmmm |       bias 15, to 65504
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct fp16 {
  uint16_t bits;
  static constexpr FloatFormat kFormat{5, 10, 15, Specials::ieee};
  static constexpr Overflow kOverflow = Overflow::to_special;

  template <class Source>
  ROOFTILE_HD static constexpr fp16 from(Source value, Overflow overflow, Rounding rounding) {
    if constexpr (sizeof(Source) == sizeof(float))
      if (overflow == Overflow::to_special && rounding == Rounding::nearest_even)
        return nearest(value);
    return {static_cast<uint16_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const {
    const uint32_t sign = (bits & 0x8000U) << 16;
    uint32_t word = (bits & 0x7fffU) << 13;
    const uint32_t exponent = word & 0x0f800000U;
    word += kRebias;
    if (exponent == 0x0f800000U) {  // infinity and NaN: the float's exponent is all ones too
      word += kRebias;
    } else if (exponent == 0) {  // 2^-14 * (1 + mantissa) - 2^-14, so that the adder normalises
      const float shifted = __builtin_bit_cast(float, word + (1U << 23));
      word = __builtin_bit_cast(uint32_t, shifted - 0x1p-14F);
    }
    return __builtin_bit_cast(float, sign | word);
  }

 private:
  static constexpr uint32_t kRebias = (127U - 15U) << 23;

  // The usual case, faster. Assumes the processor's default rounding mode.
  ROOFTILE_HD static constexpr fp16 nearest(float value) {
    const auto word = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = word >> 16 & 0x8000U;
    const uint32_t magnitude = word & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return {static_cast<uint16_t>(sign | 0x7e00U)};
    if (magnitude >= 0x47800000U) return {static_cast<uint16_t>(sign | 0x7c00U)};  // from 2^16
    if (magnitude < 0x38800000U) {  // below 2^-14, the least normal number
      // 0.5 has the last place of our subnormals, 2^-24, as its own: adding it rounds to that
      // place.
      const float shifted = __builtin_bit_cast(float, magnitude) + 0.5F;
      return {static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000U))};
    }
    const uint32_t rebiased = magnitude - kRebias;
    return {static_cast<uint16_t>(sign | ((rebiased + 0xfffU + (rebiased >> 13 & 1U)) >> 13))};
  }
};

}  // namespace rooftile
