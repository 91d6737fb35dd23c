// SPDX-License-Identifier: Apache-2.0
// bfloat16: the upper half of a float. Overflow gives infinity, as IEEE 754 would.
//
//   bit       15 14      7 6       0
//           | s | eeeeeeee | mmmmmmm |       bias 127, to 3.39e38
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct bf16 {
  uint16_t bits;
  static constexpr FloatFormat kFormat{8, 7, 127, Specials::ieee};
  static constexpr Overflow kOverflow = Overflow::to_special;

  template <class Source>
  ROOFTILE_HD static constexpr bf16 from(Source value, Overflow overflow, Rounding rounding) {
    if constexpr (sizeof(Source) == sizeof(float))
      if (overflow == Overflow::to_special && rounding == Rounding::nearest_even)
        return nearest(value);
    return {static_cast<uint16_t>(encode_bits<kFormat>(value, overflow, rounding))};
  }
  ROOFTILE_HD explicit constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }

 private:
  // The usual case in four integer operations.
  ROOFTILE_HD static constexpr bf16 nearest(float value) {
    const auto word = __builtin_bit_cast(uint32_t, value);
    if ((word & 0x7fffffffU) > 0x7f800000U)
      return {static_cast<uint16_t>((word >> 16 & 0x8000U) | 0x7fc0U)};
    // A carry out of the mantissa is the next exponent, and past the last one it is infinity.
    return {static_cast<uint16_t>((word + 0x7fffU + (word >> 16 & 1U)) >> 16)};
  }
};

}  // namespace rooftile
