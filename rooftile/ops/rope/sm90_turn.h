// SPDX-License-Identifier: Apache-2.0
// The cosine and sine of an angle for kernels: reduced in double, so that a position of a million
// loses nothing (Cody and Waite, 1980); what is left goes into Taylor's series in f32, to 2e-9.
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile::ops::rope {

struct Turn {
  float cosine;
  float sine;
};

/// Of |angle| < 2^50, each times `factor`.
__device__ inline Turn turn_of(double angle, float factor) {
  // Adding it leaves the rounded integer in the low bits of the sum.
  constexpr double kMagic = 0x1.8p52;
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  // pi / 2 in two parts: the product of an integer and the first is exact within an fma.
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
  const double magic = fma(angle, kTwoOverPi, kMagic);
  const double n = magic - kMagic;
  const auto quadrant = static_cast<unsigned>(__builtin_bit_cast(uint64_t, magic));
  const auto r = static_cast<float>(fma(-n, kHalfPiRest, fma(-n, kHalfPi, angle)));
  const float z = r * r;
  float s = fmaf(1.0F / 362880, z, -1.0F / 5040);
  s = fmaf(s, z, 1.0F / 120);
  s = fmaf(s, z, -1.0F / 6);
  s = fmaf(s * z, r, r);
  float c = fmaf(-1.0F / 3628800, z, 1.0F / 40320);
  c = fmaf(c, z, -1.0F / 720);
  c = fmaf(c, z, 1.0F / 24);
  c = fmaf(c, z, -0.5F);
  c = fmaf(c, z, 1.0F);
  const bool is_odd = (quadrant & 1U) != 0;
  const float cosine = is_odd ? s : c;
  const float sine = is_odd ? c : s;
  return {((quadrant + 1) & 2U) != 0 ? -factor * cosine : factor * cosine,
          (quadrant & 2U) != 0 ? -factor * sine : factor * sine};
}

}  // namespace rooftile::ops::rope
