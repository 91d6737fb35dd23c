// SPDX-License-Identifier: Apache-2.0
// Exponentials for kernels, of IEEE operations and fused multiply-adds alone, so that a GPU, the
// simulator and the host give the same bits: to 1 ulp, where tile/ptx/approximate.h is not enough.
// Method: W. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980, chapter 6:
// the exponent's integer part goes to the result's exponent, a minimax polynomial takes the rest.
// The polynomials were fitted by iteratively reweighted least squares (C. Lawson, 1961), the
// coefficients rounded to f32 one after another.
#pragma once

#include <math.h>

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// log2(e): e^x = 2^(x * kLog2E).
constexpr float kLog2E = 0x1.715476p+0F;

/// The greater of two, or NaN if one is; a GPU does it in one instruction (fmaxf drops a NaN).
ROOFTILE_HD inline float max_or_nan(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a > b || a != a ? a : b;
#endif
}

/// The lesser of two, or NaN if one is.
ROOFTILE_HD inline float min_or_nan(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a < b || a != a ? a : b;
#endif
}

namespace exponential {

// Adding kMagic to x leaves round(x) + 127, a float's biased exponent, in the low bits of the sum.
// |x| < 2^22. (Folklore; see H. Warren, Hacker's Delight, 17-4.)
constexpr float kMagic = 0x1.8p23F + 127.0F;

/// 2^n of n + kMagic, for integers -127 <= n <= 128; -127 gives 0, 128 infinity.
ROOFTILE_HD inline float power_of_2(float n_and_magic) {
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, n_and_magic) << 23);
}

/// p 2^n in two steps, so that neither power overflows and only the last product rounds;
/// -152 <= n <= 129.
ROOFTILE_HD inline float scaled(float p, float n) {
  const float half = fmaf(n, 0.5F, kMagic);
  const float rest = n - (half - kMagic);
  return p * power_of_2(half) * power_of_2(rest + kMagic);
}

}  // namespace exponential

/// 2^x to 1 ulp for any x: subnormal results to 1 in their last place, infinity from 128 on, 0 from
/// -150 down, NaN for NaN. Exact where x is an integer.
ROOFTILE_HD inline float exp2(float x) {
  using exponential::kMagic;
  const float bounded = min_or_nan(max_or_nan(x, -151.0F), 129.0F);
  const float n = (bounded + kMagic) - kMagic;
  const float r = bounded - n;  // exact, |r| <= 1/2
  // 1 + r q(r), within 3e-9 of 2^r.
  float p = fmaf(0x1.416b52p-13F, r, 0x1.5f082ep-10F);
  p = fmaf(p, r, 0x1.3b2de0p-7F);
  p = fmaf(p, r, 0x1.c6af7cp-5F);
  p = fmaf(p, r, 0x1.ebfbdcp-3F);
  p = fmaf(p, r, 0x1.62e430p-1F);
  return exponential::scaled(fmaf(p, r, 1.0F), n);
}

/// e^x to 1 ulp for any x, with the extremes of exp2().
ROOFTILE_HD inline float exp(float x) {
  using exponential::kMagic;
  // ln 2 in two parts: n * kLn2High is exact for |n| < 2^11.
  constexpr float kLn2High = 0x1.62ep-1F;
  constexpr float kLn2Low = 0x1.0bfbe8p-15F;
  const float bounded = min_or_nan(max_or_nan(x, -104.0F), 89.0F);
  const float n = fmaf(bounded, kLog2E, kMagic) - kMagic;
  const float r = fmaf(n, -kLn2Low, fmaf(n, -kLn2High, bounded));  // |r| <= ln(2) / 2
  // 1 + r + r^2 q(r), within 3e-9 of e^r.
  float p = fmaf(0x1.6a2434p-10F, r, 0x1.1239e2p-7F);
  p = fmaf(p, r, 0x1.5558f2p-5F);
  p = fmaf(p, r, 0x1.555492p-3F);
  p = fmaf(p, r, 0x1.fffffcp-2F);
  p = fmaf(p, r, 1.0F);
  return exponential::scaled(fmaf(p, r, 1.0F), n);
}

}  // namespace tile
}  // namespace rooftile
