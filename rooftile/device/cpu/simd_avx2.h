// SPDX-License-Identifier: Apache-2.0
// A Vec on AVX2, FMA and F16C: two ymm registers, lanes 0-7 and 8-15. Included by simd.h.
#pragma once

#include "rooftile/device/cpu/simd.h"

ROOFTILE_SIMD_BEGIN_AVX2
namespace rooftile::simd::avx2 {

/// Whether stream() differs from store().
inline constexpr bool kCanStream = true;

struct Vec {
  __m256 lo;  // lanes 0-7
  __m256 hi;  // lanes 8-15
};

ROOFTILE_SIMD_INLINE Vec set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }

// Memory. stream() needs p aligned to 16 elements of its type, and fence() before another thread
// reads.

ROOFTILE_SIMD_INLINE Vec load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
ROOFTILE_SIMD_INLINE __m256 widen(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
ROOFTILE_SIMD_INLINE Vec load(const bf16* p) {
  const auto* halves = reinterpret_cast<const __m128i*>(p);
  return {widen(_mm_loadu_si128(halves)), widen(_mm_loadu_si128(halves + 1))};
}
ROOFTILE_SIMD_INLINE Vec load(const fp16* p) {
  const auto* halves = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
}

/// Rounded to nearest even, in the upper half of each 32-bit lane. A NaN stays one; without
/// kCaresForNan only if the mantissa bits that go are 0.
template <bool kCaresForNan>
ROOFTILE_SIMD_INLINE __m256i rounded_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  if constexpr (!kCaresForNan) return up;
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x7fc00000));
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_blendv_epi8(up, quiet, _mm256_castps_si256(is_nan));
}
ROOFTILE_SIMD_INLINE __m256i to_bf16(Vec v) {
  const __m256i lo = _mm256_srli_epi32(rounded_bf16<true>(v.lo), 16);
  const __m256i hi = _mm256_srli_epi32(rounded_bf16<true>(v.hi), 16);
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(lo, hi), 0xd8);  // packs within 128 bits
}
ROOFTILE_SIMD_INLINE __m256i to_fp16(Vec v) {
  constexpr int kNearestEven = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return _mm256_set_m128i(_mm256_cvtps_ph(v.hi, kNearestEven), _mm256_cvtps_ph(v.lo, kNearestEven));
}

ROOFTILE_SIMD_INLINE void store(float* p, Vec v) {
  _mm256_storeu_ps(p, v.lo);
  _mm256_storeu_ps(p + 8, v.hi);
}
ROOFTILE_SIMD_INLINE void store(bf16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bf16(v));
}
ROOFTILE_SIMD_INLINE void store(fp16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_fp16(v));
}
ROOFTILE_SIMD_INLINE void stream(float* p, Vec v) {
  _mm256_stream_ps(p, v.lo);
  _mm256_stream_ps(p + 8, v.hi);
}
ROOFTILE_SIMD_INLINE void stream(bf16* p, Vec v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), to_bf16(v));
}
ROOFTILE_SIMD_INLINE void stream(fp16* p, Vec v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), to_fp16(v));
}
ROOFTILE_SIMD_INLINE void fence() { _mm_sfence(); }

// Split order, for bf16 (simd_math.inc): lo has the even elements and hi the odd ones, so that an
// element is widened or narrowed where it stands: 1 instruction for 8 elements instead of 3.

ROOFTILE_SIMD_INLINE Vec load_split(const bf16* p) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(all, 16)),
          _mm256_castsi256_ps(_mm256_and_si256(all, _mm256_set1_epi32(-0x10000)))};
}
ROOFTILE_SIMD_INLINE __m256i split_to_bf16(Vec v) {
  const __m256i evens = _mm256_srli_epi32(rounded_bf16<false>(v.lo), 16);
  return _mm256_blend_epi16(evens, rounded_bf16<false>(v.hi), 0xaa);
}
ROOFTILE_SIMD_INLINE void store_split(bf16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), split_to_bf16(v));
}
ROOFTILE_SIMD_INLINE void stream_split(bf16* p, Vec v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), split_to_bf16(v));
}
ROOFTILE_SIMD_INLINE Vec to_split(Vec v) {
  const __m256 even = _mm256_shuffle_ps(v.lo, v.hi, 0x88);  // 0 2 8 a | 4 6 c e
  const __m256 odd = _mm256_shuffle_ps(v.lo, v.hi, 0xdd);
  return {_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xd8)),
          _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xd8))};
}

// Arithmetic, each lane rounded once.

ROOFTILE_SIMD_INLINE Vec operator+(Vec a, Vec b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Vec operator-(Vec a, Vec b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Vec operator*(Vec a, Vec b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Vec operator/(Vec a, Vec b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Vec sqrt(Vec v) { return {_mm256_sqrt_ps(v.lo), _mm256_sqrt_ps(v.hi)}; }
/// a * b + c
ROOFTILE_SIMD_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
/// The greater; b where either is NaN, as x86 does.
ROOFTILE_SIMD_INLINE Vec max(Vec a, Vec b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
/// The lesser; b where either is NaN.
ROOFTILE_SIMD_INLINE Vec min(Vec a, Vec b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

/// x where a < b, else y (as where a or b is NaN).
ROOFTILE_SIMD_INLINE Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {_mm256_blendv_ps(y.lo, x.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
          _mm256_blendv_ps(y.hi, x.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}

/// Lanes 2i and 2i + 1 exchanged.
ROOFTILE_SIMD_INLINE Vec swap_neighbours(Vec v) {
  return {_mm256_permute_ps(v.lo, 0xb1), _mm256_permute_ps(v.hi, 0xb1)};
}

/// v, with each NaN the one whose upper half is 7fc0 and whose lower half is 0.
ROOFTILE_SIMD_INLINE Vec canonical(Vec v) {
  const __m256 nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
  return {_mm256_blendv_ps(v.lo, nan, _mm256_cmp_ps(v.lo, v.lo, _CMP_UNORD_Q)),
          _mm256_blendv_ps(v.hi, nan, _mm256_cmp_ps(v.hi, v.hi, _CMP_UNORD_Q))};
}

/// 2^n for magic = n + kMagic (simd_math.inc), -127 <= n <= 128; 0 at -127 and infinity at 128.
ROOFTILE_SIMD_INLINE Vec power_of_2(Vec magic) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(magic.lo), 23)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(magic.hi), 23))};
}

// Across lanes. The tree adds neighbours first: ((0+1)+(2+3)) + ((4+5)+(6+7)) + …

ROOFTILE_SIMD_INLINE float sum(Vec v) {
  const __m256 pairs = _mm256_hadd_ps(v.lo, v.hi);  // 01 23 89 ab | 45 67 cd ef
  const __m128 fours = _mm_hadd_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  const __m128 eights = _mm_add_ps(fours, _mm_movehl_ps(fours, fours));  // 0-7 8-f
  return _mm_cvtss_f32(_mm_add_ss(eights, _mm_movehdup_ps(eights)));
}
ROOFTILE_SIMD_INLINE float sum_split(Vec v) {
  const __m256 pairs = _mm256_add_ps(v.lo, v.hi);
  const __m128 fours = _mm_hadd_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  const __m128 eights = _mm_hadd_ps(fours, fours);
  return _mm_cvtss_f32(_mm_add_ss(eights, _mm_movehdup_ps(eights)));
}
ROOFTILE_SIMD_INLINE float max_lane(Vec v) {
  const __m256 eight = _mm256_max_ps(v.lo, v.hi);
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

// Ints: 16 lanes of 32-bit integers, to take codes apart with.

struct Ints {
  __m256i lo;
  __m256i hi;
};

ROOFTILE_SIMD_INLINE Ints set_ints(std::int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
/// Sixteen bytes, widened.
ROOFTILE_SIMD_INLINE Ints load_ints(const std::uint8_t* p) {
  return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8)))};
}
ROOFTILE_SIMD_INLINE Ints load_ints(const std::int8_t* p) {
  return {_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8)))};
}
ROOFTILE_SIMD_INLINE Ints operator&(Ints a, Ints b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Ints operator|(Ints a, Ints b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
ROOFTILE_SIMD_INLINE Ints operator-(Ints a, Ints b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
/// Lane by lane and by one count for all; zeros come in.
ROOFTILE_SIMD_INLINE Ints operator>>(Ints a, Ints counts) {
  return {_mm256_srlv_epi32(a.lo, counts.lo), _mm256_srlv_epi32(a.hi, counts.hi)};
}
ROOFTILE_SIMD_INLINE Ints operator>>(Ints a, int count) {
  return {_mm256_srli_epi32(a.lo, count), _mm256_srli_epi32(a.hi, count)};
}
ROOFTILE_SIMD_INLINE Ints operator<<(Ints a, int count) {
  return {_mm256_slli_epi32(a.lo, count), _mm256_slli_epi32(a.hi, count)};
}
ROOFTILE_SIMD_INLINE Vec to_float(Ints v) {
  return {_mm256_cvtepi32_ps(v.lo), _mm256_cvtepi32_ps(v.hi)};
}
/// To nearest, ties to even; |v| < 2^31.
ROOFTILE_SIMD_INLINE Ints to_ints(Vec v) {
  return {_mm256_cvtps_epi32(v.lo), _mm256_cvtps_epi32(v.hi)};
}
/// Lanes from -128 to 127.
ROOFTILE_SIMD_INLINE void store(std::int8_t* p, Ints v) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(v.lo, v.hi), 0xd8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}
ROOFTILE_SIMD_INLINE Vec set(fp16 x) {
  const __m256 all = _mm256_cvtph_ps(_mm_set1_epi16(static_cast<std::int16_t>(x.bits)));
  return {all, all};
}

#include "rooftile/device/cpu/simd_math.inc"

}  // namespace rooftile::simd::avx2
ROOFTILE_SIMD_END
