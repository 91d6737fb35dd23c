// SPDX-License-Identifier: Apache-2.0
// fp8 in kernels that compute in f32, two elements a conversion. Source: PTX ISA, "cvt" with
// .e4m3x2 and .e5m2x2; formats/fp8.h has the same numbers.
#pragma once

#include "rooftile/formats/fp8.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/matrix.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// Two elements of `type`, e4m3 or e5m2, the first in the low byte.
__device__ inline void unpack_fp8(float* to, uint16_t bits, Element type) {
#ifdef __CUDACC__
  uint32_t halves;
  if (type == Element::e4m3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bits));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bits));
  asm("{.reg .f16 low, high;\n"
      " mov.b32 {low, high}, %2;\n"
      " cvt.f32.f16 %0, low;\n"
      " cvt.f32.f16 %1, high;}"
      : "=f"(to[0]), "=f"(to[1])
      : "r"(halves));
#else
  for (int i = 0; i < 2; ++i) {
    const auto byte = static_cast<uint8_t>(bits >> 8 * i);
    to[i] = type == Element::e4m3 ? static_cast<float>(e4m3{byte}) : static_cast<float>(e5m2{byte});
  }
#endif
}

/// Two numbers to nearest even, the first to the low byte; beyond the range the greatest finite
/// one, or, where not `saturates`, infinity (e5m2) or NaN (e4m3). NaN stays NaN.
__device__ inline uint16_t pack_fp8(const float* from, Element type, bool saturates) {
  uint16_t bits;
#ifdef __CUDACC__
  if (type == Element::e4m3)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(from[1]), "f"(from[0]));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(from[1]), "f"(from[0]));
#else
  const auto byte = [&](float value) {
    if (value != value) return uint8_t{0x7f};
    return type == Element::e4m3
               ? e4m3::from(value, Overflow::saturate, Rounding::nearest_even).bits
               : e5m2::from(value, Overflow::saturate, Rounding::nearest_even).bits;
  };
  bits = static_cast<uint16_t>(byte(from[0]) | byte(from[1]) << 8);
#endif
  if (saturates) return bits;
  // The midpoint above the greatest number goes to the even code: e4m3's 0x7e, e5m2's 0x7c.
  constexpr float kMostE4m3 = 464.0F;
  constexpr float kMostE5m2 = 0x1.dffffep+15F;  // below 61440
  const float most = type == Element::e4m3 ? kMostE4m3 : kMostE5m2;
  const unsigned special = type == Element::e4m3 ? 0x7f : 0x7c;
  unsigned patched = bits;
  if (fabsf(from[0]) > most) patched = (patched & 0xff80U) | special;
  if (fabsf(from[1]) > most) patched = (patched & 0x80ffU) | special << 8;
  return static_cast<uint16_t>(patched);
}

}  // namespace tile
}  // namespace rooftile
