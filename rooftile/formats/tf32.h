// SPDX-License-Identifier: Apache-2.0
// TF32, the float of NVIDIA tensor cores (PTX ISA, "Alternate floating point"): a float whose low
// 13 bits are zero. Kept in 32 bits, as the instructions take it.
//
//   bit       31 30     23 22       13 12        0
//           | s | eeeeeeee | mmmmmmmmmm | 0 ... 0 |       bias 127, to 3.40e38
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/minifloat.h"

namespace ROOFTILE_API rooftile {

struct tf32 {
  uint32_t bits;
  static constexpr FloatFormat kFormat{8, 10, 127, Specials::ieee};
  static constexpr Overflow kOverflow = Overflow::to_special;
  static constexpr int kUnusedBits = 13;

  template <class Source>
  ROOFTILE_HD static constexpr tf32 from(Source value, Overflow overflow, Rounding rounding) {
    return {encode_bits<kFormat>(value, overflow, rounding) << kUnusedBits};
  }
  ROOFTILE_HD explicit constexpr operator float() const { return __builtin_bit_cast(float, bits); }
};

}  // namespace rooftile
