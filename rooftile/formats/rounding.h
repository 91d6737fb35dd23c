// SPDX-License-Identifier: Apache-2.0
// The named choices of every conversion to a narrower type.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

/// Which neighbour a value between two representable ones becomes.
enum class Rounding : uint8_t {
  nearest_even,  // ties to the even code: IEEE 754 and nearly every conversion instruction
  nearest_away,  // ties away from zero: PTX cvt.rna.tf32
  toward_zero,   // cut off: what tensor cores do to the low bits of a float given as tf32
};

/// What a value becomes that rounds to more than the greatest finite number.
enum class Overflow : uint8_t {
  saturate,    // the greatest finite number, for infinities too; NaN stays NaN
  to_special,  // infinity where the type has one, else NaN; a type with neither saturates
};

/// How the power of two of a block is chosen from the block's greatest magnitude, amax.
enum class ScaleRounding : uint8_t {
  floor,  // OCP MX v1.0 section 6.3: floor(log2(amax)) - emax; the greatest elements may saturate
  ceil,   // the least scale with amax / scale <= the element's maximum: nothing saturates
  even,   // amax rounded to the element's mantissa first, then as floor
};

}  // namespace rooftile
