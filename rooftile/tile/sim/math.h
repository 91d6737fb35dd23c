// SPDX-License-Identifier: Apache-2.0
// CUDA's arithmetic functions for the simulator: those whose bits are known. IEEE operations are
// the host's. Functions that CUDA computes by algorithms of its own (expf, logf, sinf, …) are not
// here, and calling the host's is an error: use tile/math.h.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmath>

namespace rooftile::sim {
/// PTX min and max: a NaN gives the other operand, -0 is below +0.
template <class T>
inline T least(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
template <class T>
inline T greatest(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}
/// PTX cvt to integers: saturates, and NaN gives 0.
template <class Integer, class Float>
inline Integer to_integer(Float value) {
  constexpr auto kLeast =
      static_cast<Integer>(Integer(-1) < 0 ? Integer(1) << (8 * sizeof(Integer) - 1) : 0);
  constexpr auto kGreatest = static_cast<Integer>(~kLeast);
  if (value != value) return 0;
  if (value <= static_cast<Float>(kLeast)) return kLeast;
  if (value >= static_cast<Float>(kGreatest)) return kGreatest;
  return static_cast<Integer>(value);
}
}  // namespace rooftile::sim

#define fminf(a, b) (::rooftile::sim::least<float>(a, b))
#define fmaxf(a, b) (::rooftile::sim::greatest<float>(a, b))
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline int __float2int_rn(float a) { return rooftile::sim::to_integer<int>(__builtin_rintf(a)); }
inline int __float2int_rz(float a) { return rooftile::sim::to_integer<int>(__builtin_truncf(a)); }
inline int __float2int_rd(float a) { return rooftile::sim::to_integer<int>(__builtin_floorf(a)); }
inline int __float2int_ru(float a) { return rooftile::sim::to_integer<int>(__builtin_ceilf(a)); }
inline unsigned __float2uint_rn(float a) {
  return rooftile::sim::to_integer<unsigned>(__builtin_rintf(a));
}
inline unsigned __float2uint_rz(float a) {
  return rooftile::sim::to_integer<unsigned>(__builtin_truncf(a));
}
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
inline int __clzll(long long a) {
  return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> 4 * i & 15;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (nibble & 7) & 255);
    if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}

// The host's versions have other bits than CUDA's: a use is an error of the compiler, with its
// line.
#pragma GCC poison expf exp2f exp10f expm1f logf log2f log10f log1pf sinf cosf tanf tanhf sinhf coshf
#pragma GCC poison __expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf __tanhf __sincosf __powf
#pragma GCC poison __fdividef __frsqrt_rn __saturatef asinhf acoshf atanhf
#pragma GCC poison asinf acosf atanf atan2f powf cbrtf erff erfcf lgammaf tgammaf hypotf sincosf rsqrtf
