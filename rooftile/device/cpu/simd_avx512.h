// SPDX-License-Identifier: Apache-2.0
// A Vec on AVX-512 F, BW, DQ and VL: one zmm register. Included by simd.h.
#pragma once

#include "rooftile/device/cpu/simd.h"

ROOFTILE_SIMD_BEGIN_AVX512
namespace rooftile::simd::avx512 {

/// Whether stream() differs from store().
inline constexpr bool kCanStream = true;

struct Vec {
  __m512 all;
};

ROOFTILE_SIMD_INLINE Vec set(float x) { return {_mm512_set1_ps(x)}; }

// Memory. stream() needs p aligned to 16 elements of its type, and fence() before another thread
// reads.

ROOFTILE_SIMD_INLINE Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
ROOFTILE_SIMD_INLINE Vec load(const bf16* p) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
}
ROOFTILE_SIMD_INLINE Vec load(const fp16* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}

/// Rounded to nearest even; a NaN stays one.
ROOFTILE_SIMD_INLINE __m256i to_bf16(Vec v) {
  const __m512i bits = _mm512_castps_si512(v.all);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(v.all, v.all, _CMP_UNORD_Q);
  const __m512i word = _mm512_mask_or_epi32(up, is_nan, bits, _mm512_set1_epi32(0x7fc00000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(word, 16));
}
ROOFTILE_SIMD_INLINE __m256i to_fp16(Vec v) {
  return _mm512_cvtps_ph(v.all, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

ROOFTILE_SIMD_INLINE void store(float* p, Vec v) { _mm512_storeu_ps(p, v.all); }
ROOFTILE_SIMD_INLINE void store(bf16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bf16(v));
}
ROOFTILE_SIMD_INLINE void store(fp16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_fp16(v));
}
ROOFTILE_SIMD_INLINE void stream(float* p, Vec v) { _mm512_stream_ps(p, v.all); }
ROOFTILE_SIMD_INLINE void stream(bf16* p, Vec v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), to_bf16(v));
}
ROOFTILE_SIMD_INLINE void stream(fp16* p, Vec v) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), to_fp16(v));
}
ROOFTILE_SIMD_INLINE void fence() { _mm_sfence(); }

// Arithmetic, each lane rounded once.

ROOFTILE_SIMD_INLINE Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Vec sqrt(Vec v) { return {_mm512_sqrt_ps(v.all)}; }
/// a * b + c
ROOFTILE_SIMD_INLINE Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }
/// The greater; b where either is NaN, as x86 does.
ROOFTILE_SIMD_INLINE Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.all, b.all)}; }
/// The lesser; b where either is NaN.
ROOFTILE_SIMD_INLINE Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.all, b.all)}; }

/// x where a < b, else y (as where a or b is NaN).
ROOFTILE_SIMD_INLINE Vec select_less(Vec a, Vec b, Vec x, Vec y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.all, b.all, _CMP_LT_OQ), y.all, x.all)};
}

/// Lanes 2i and 2i + 1 exchanged.
ROOFTILE_SIMD_INLINE Vec swap_neighbours(Vec v) { return {_mm512_permute_ps(v.all, 0xb1)}; }

/// v, with each NaN the one whose upper half is 7fc0 and whose lower half is 0.
ROOFTILE_SIMD_INLINE Vec canonical(Vec v) {
  const __mmask16 is_nan = _mm512_cmp_ps_mask(v.all, v.all, _CMP_UNORD_Q);
  return {
      _mm512_mask_blend_ps(is_nan, v.all, _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN()))};
}

/// 2^n for magic = n + kMagic (simd_math.inc), -127 <= n <= 128; 0 at -127 and infinity at 128.
ROOFTILE_SIMD_INLINE Vec power_of_2(Vec magic) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(magic.all), 23))};
}

// Across lanes. The tree adds neighbours first: (((0+1)+(2+3)) + ((4+5)+(6+7))) + …

ROOFTILE_SIMD_INLINE float sum(Vec v) {
  const __m256 lo = _mm512_castps512_ps256(v.all);
  const __m256 pairs =
      _mm256_hadd_ps(lo, _mm512_extractf32x8_ps(v.all, 1));  // 01 23 89 ab | 45 67 cd ef
  const __m128 fours = _mm_hadd_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
  const __m128 eights = _mm_add_ps(fours, _mm_movehl_ps(fours, fours));  // 0-7 8-f
  return _mm_cvtss_f32(_mm_add_ss(eights, _mm_movehdup_ps(eights)));
}
ROOFTILE_SIMD_INLINE float max_lane(Vec v) {
  const __m256 eight =
      _mm256_max_ps(_mm512_castps512_ps256(v.all), _mm512_extractf32x8_ps(v.all, 1));
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

// Split order, for bf16 (simd_math.inc): nothing to gain here, so it is the natural order.

ROOFTILE_SIMD_INLINE Vec load_split(const bf16* p) { return load(p); }
ROOFTILE_SIMD_INLINE void store_split(bf16* p, Vec v) { store(p, v); }
ROOFTILE_SIMD_INLINE void stream_split(bf16* p, Vec v) { stream(p, v); }
ROOFTILE_SIMD_INLINE Vec to_split(Vec v) { return v; }
ROOFTILE_SIMD_INLINE float sum_split(Vec v) { return sum(v); }

// Ints: 16 lanes of 32-bit integers, to take codes apart with.

struct Ints {
  __m512i all;
};

ROOFTILE_SIMD_INLINE Ints set_ints(std::int32_t x) { return {_mm512_set1_epi32(x)}; }
/// Sixteen bytes, widened.
ROOFTILE_SIMD_INLINE Ints load_ints(const std::uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
ROOFTILE_SIMD_INLINE Ints load_ints(const std::int8_t* p) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
ROOFTILE_SIMD_INLINE Ints operator&(Ints a, Ints b) { return {_mm512_and_si512(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Ints operator|(Ints a, Ints b) { return {_mm512_or_si512(a.all, b.all)}; }
ROOFTILE_SIMD_INLINE Ints operator-(Ints a, Ints b) { return {_mm512_sub_epi32(a.all, b.all)}; }
/// Lane by lane and by one count for all; zeros come in.
ROOFTILE_SIMD_INLINE Ints operator>>(Ints a, Ints counts) {
  return {_mm512_srlv_epi32(a.all, counts.all)};
}
ROOFTILE_SIMD_INLINE Ints operator>>(Ints a, int count) {
  return {_mm512_srl_epi32(a.all, _mm_cvtsi32_si128(count))};
}
ROOFTILE_SIMD_INLINE Ints operator<<(Ints a, int count) {
  return {_mm512_sll_epi32(a.all, _mm_cvtsi32_si128(count))};
}
ROOFTILE_SIMD_INLINE Vec to_float(Ints v) { return {_mm512_cvtepi32_ps(v.all)}; }
/// To nearest, ties to even; |v| < 2^31.
ROOFTILE_SIMD_INLINE Ints to_ints(Vec v) { return {_mm512_cvtps_epi32(v.all)}; }
/// Lanes from -128 to 127.
ROOFTILE_SIMD_INLINE void store(std::int8_t* p, Ints v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v.all));
}
ROOFTILE_SIMD_INLINE Vec set(fp16 x) {
  return {_mm512_cvtph_ps(_mm256_set1_epi16(static_cast<std::int16_t>(x.bits)))};
}

#include "rooftile/device/cpu/simd_math.inc"

}  // namespace rooftile::simd::avx512
ROOFTILE_SIMD_END
