// SPDX-License-Identifier: Apache-2.0
// A Vec without vector instructions: sixteen floats and loops. It defines what the others must
// equal. Included by simd.h.
#pragma once

#include "rooftile/device/cpu/simd.h"

#pragma push_macro("ROOFTILE_SIMD_INLINE")
#undef ROOFTILE_SIMD_INLINE
#define ROOFTILE_SIMD_INLINE inline
namespace rooftile::simd::scalar {

/// Whether stream() differs from store().
inline constexpr bool kCanStream = false;

struct Vec {
  float lane[kLanes];
};

/// A Vec of f(i) for each lane i.
template <class Function>
[[gnu::noinline]] Vec each_lane(Function f) {  // inlined, kernels take minutes to compile
  Vec v;
  for (int i = 0; i < kLanes; ++i) v.lane[i] = f(i);
  return v;
}

inline Vec set(float x) {
  return each_lane([&](int) { return x; });
}

template <class T>
inline Vec load(const T* p) {
  return each_lane([&](int i) { return static_cast<float>(p[i]); });
}

inline void store(float* p, const Vec& v) { std::memcpy(p, v.lane, sizeof v.lane); }
inline void store(bf16* p, const Vec& v) {
  for (int i = 0; i < kLanes; ++i) p[i] = encode<bf16>(v.lane[i]);
}
inline void store(fp16* p, const Vec& v) {
  for (int i = 0; i < kLanes; ++i) p[i] = encode<fp16>(v.lane[i]);
}
template <class T>
inline void stream(T* p, const Vec& v) {
  store(p, v);
}
inline void fence() {}

inline Vec operator+(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline Vec operator-(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] - b.lane[i]; });
}
inline Vec operator*(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline Vec operator/(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] / b.lane[i]; });
}
inline Vec sqrt(const Vec& v) {
  return each_lane([&](int i) { return std::sqrt(v.lane[i]); });
}
/// a * b + c
inline Vec fma(const Vec& a, const Vec& b, const Vec& c) {
  return each_lane([&](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
}
/// The greater; b where either is NaN, as x86 does.
inline Vec max(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
/// The lesser; b where either is NaN.
inline Vec min(const Vec& a, const Vec& b) {
  return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}

/// x where a < b, else y (as where a or b is NaN).
inline Vec select_less(const Vec& a, const Vec& b, const Vec& x, const Vec& y) {
  return each_lane([&](int i) { return a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]; });
}

/// Lanes 2i and 2i + 1 exchanged.
inline Vec swap_neighbours(const Vec& v) {
  return each_lane([&](int i) { return v.lane[i ^ 1]; });
}

/// v, with each NaN the one whose upper half is 7fc0 and whose lower half is 0.
inline Vec canonical(const Vec& v) {
  return each_lane([&](int i) {
    return std::isnan(v.lane[i]) ? std::numeric_limits<float>::quiet_NaN() : v.lane[i];
  });
}

/// 2^n for magic = n + kMagic (simd_math.inc), -127 <= n <= 128; 0 at -127 and infinity at 128.
inline Vec power_of_2(const Vec& magic) {
  return each_lane([&](int i) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magic.lane[i]) << 23);
  });
}

/// The tree adds neighbours first: (((0+1)+(2+3)) + ((4+5)+(6+7))) + …
inline float sum(Vec v) {
  for (int n = kLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) v.lane[i] = v.lane[2 * i] + v.lane[2 * i + 1];
  return v.lane[0];
}
inline float max_lane(const Vec& v) {
  float m = v.lane[0];
  for (int i = 1; i < kLanes; ++i) m = std::max(m, v.lane[i]);
  return m;
}

// Split order, for bf16 (simd_math.inc): nothing to gain here, so it is the natural order.

inline Vec load_split(const bf16* p) { return load(p); }
inline void store_split(bf16* p, const Vec& v) { store(p, v); }
inline void stream_split(bf16* p, const Vec& v) { stream(p, v); }
inline Vec to_split(const Vec& v) { return v; }
inline float sum_split(const Vec& v) { return sum(v); }

// Ints: 16 lanes of 32-bit integers, to take codes apart with.

struct Ints {
  std::int32_t lane[kLanes];
};

template <class Function>
inline Ints each_int(Function f) {
  Ints v;
  for (int i = 0; i < kLanes; ++i) v.lane[i] = f(i);
  return v;
}
inline Ints set_ints(std::int32_t x) {
  return each_int([&](int) { return x; });
}
/// Sixteen bytes, widened.
template <class T>
inline Ints load_ints(const T* p) {
  return each_int([&](int i) { return std::int32_t{p[i]}; });
}
inline Ints operator&(const Ints& a, const Ints& b) {
  return each_int([&](int i) { return a.lane[i] & b.lane[i]; });
}
inline Ints operator|(const Ints& a, const Ints& b) {
  return each_int([&](int i) { return a.lane[i] | b.lane[i]; });
}
inline Ints operator-(const Ints& a, const Ints& b) {
  return each_int([&](int i) { return a.lane[i] - b.lane[i]; });
}
/// Lane by lane and by one count for all; zeros come in.
inline Ints operator>>(const Ints& a, const Ints& counts) {
  return each_int([&](int i) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) >> counts.lane[i]);
  });
}
inline Ints operator>>(const Ints& a, int count) { return a >> set_ints(count); }
inline Ints operator<<(const Ints& a, int count) {
  return each_int([&](int i) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.lane[i]) << count);
  });
}
inline Vec to_float(const Ints& v) {
  return each_lane([&](int i) { return static_cast<float>(v.lane[i]); });
}
/// To nearest, ties to even; |v| < 2^31.
inline Ints to_ints(const Vec& v) {
  return each_int([&](int i) { return static_cast<std::int32_t>(std::nearbyint(v.lane[i])); });
}
/// Lanes from -128 to 127.
inline void store(std::int8_t* p, const Ints& v) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<std::int8_t>(v.lane[i]);
}
inline Vec set(fp16 x) { return set(static_cast<float>(x)); }

#include "rooftile/device/cpu/simd_math.inc"

}  // namespace rooftile::simd::scalar
#pragma pop_macro("ROOFTILE_SIMD_INLINE")
