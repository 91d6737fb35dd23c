// SPDX-License-Identifier: Apache-2.0
// Packing eight lanes at a time, for the two layouts that matter: lanes next to each other in
// memory (copied) and k next to each other (transposed in 8 x 8 blocks of registers). AVX-512
// kernels use it too: packing is bound by loads, stores and cache misses, which wider registers do
// not change.
#include <algorithm>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/ops/gemm/cpu_pack.h"

#if defined(__x86_64__)
#include <immintrin.h>

ROOFTILE_SIMD_BEGIN_AVX2

namespace rooftile::ops::gemm {
namespace {

// A unit is what becomes one 32-bit word of a panel: an element, or a pair of bf16 next to each
// other.
struct F32 {
  static constexpr int kBytes = 4;
  static __m256 load8(const char* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
  static __m256 load6(const char* p) {
    const __m128 low = _mm_loadu_ps(reinterpret_cast<const float*>(p));
    const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 16));
    return _mm256_set_m128(_mm_castsi128_ps(high), low);
  }
};

inline __m128i load8_halves(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline __m128i load6_halves(const char* p) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_unpacklo_epi64(low, _mm_loadu_si32(p + 8));
}
inline __m256 widen_bf16(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

struct Bf16 {
  static constexpr int kBytes = 2;
  static __m256 load8(const char* p) { return widen_bf16(load8_halves(p)); }
  static __m256 load6(const char* p) { return widen_bf16(load6_halves(p)); }
};

struct Fp16 {
  static constexpr int kBytes = 2;
  static __m256 load8(const char* p) { return _mm256_cvtph_ps(load8_halves(p)); }
  static __m256 load6(const char* p) { return _mm256_cvtph_ps(load6_halves(p)); }
};

template <int Lanes>
inline void store(float* to, __m256 v) {
  if constexpr (Lanes == 8) {
    _mm256_storeu_ps(to, v);
  } else {
    static_assert(Lanes == 6);
    _mm_storeu_ps(to, _mm256_castps256_ps128(v));
    _mm_storel_pi(reinterpret_cast<__m64*>(to + 4), _mm256_extractf128_ps(v, 1));
  }
}

inline void transpose8(__m256 (&v)[8]) {
  __m256 t[8];
  for (int i = 0; i < 4; ++i) {  // pairs of rows, interleaved
    t[2 * i] = _mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {  // four rows
    v[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    v[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    v[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    v[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {  // halves
    t[i] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
    t[i + 4] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
  }
  for (int i = 0; i < 8; ++i) v[i] = t[i];
}

// Eight units along k of `Lanes` lanes, of which `lanes` exist: to[k * width + lane].
template <class Unit, int Lanes>
inline void transpose_block(const char* from, std::int64_t lane_bytes, std::int64_t lanes,
                            float* to, int width) {
  __m256 v[8];  // [lane][8 along k]
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    v[i] = i < Lanes && i < lanes ? Unit::load8(from + i * lane_bytes) : _mm256_setzero_ps();
  transpose8(v);  // [k][8 lanes]
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) store<Lanes>(to + i * width, v[i]);
}

// One panel whose units along k are next to each other in memory.
template <class Unit, int Width>
void transpose_panel(const char* from, std::int64_t lane_bytes, std::int64_t lanes,
                     std::int64_t units, float* to) {
  constexpr int kWhole = Width / 8 * 8;
  for (std::int64_t k = 0; k + 8 <= units; k += 8) {
    const char* block = from + k * Unit::kBytes;
    for (int i = 0; i < kWhole; i += 8) {
      if (lanes >= i + 8)
        transpose_block<Unit, 8>(block + i * lane_bytes, lane_bytes, 8, to + k * Width + i, Width);
      else
        transpose_block<Unit, 8>(block + i * lane_bytes, lane_bytes, lanes - i, to + k * Width + i,
                                 Width);
    }
    if constexpr (kWhole < Width)
      transpose_block<Unit, Width - kWhole>(block + kWhole * lane_bytes, lane_bytes, lanes - kWhole,
                                            to + k * Width + kWhole, Width);
  }
}

// Units k of one panel whose lanes are next to each other in memory.
template <class Unit, int Width>
inline void copy_row(const char* from, float* to) {
  constexpr int kWhole = Width / 8 * 8;
#pragma GCC unroll 4
  for (int i = 0; i < kWhole; i += 8) store<8>(to + i, Unit::load8(from + i * Unit::kBytes));
  if constexpr (kWhole < Width)
    store<Width - kWhole>(to + kWhole, Unit::load6(from + kWhole * Unit::kBytes));
}

template <int Width>
inline void interleave_row(const char* even, const char* odd, float* to) {
  constexpr int kWhole = Width / 8 * 8;
  const auto put = [&](int i, __m128i low, __m128i high, auto count) {
    const __m256i pairs =
        _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));
    store<decltype(count)::value>(to + i, _mm256_castsi256_ps(pairs));
  };
#pragma GCC unroll 4
  for (int i = 0; i < kWhole; i += 8)
    put(i, load8_halves(even + 2 * i), load8_halves(odd + 2 * i), std::integral_constant<int, 8>{});
  if constexpr (kWhole < Width)
    put(kWhole, load6_halves(even + 2 * kWhole), load6_halves(odd + 2 * kWhole),
        std::integral_constant<int, Width - kWhole>{});
}

// Rows of the operand that are read side by side: several streams keep the memory busy, and the
// next rows are asked for early, since each is a new page that the prefetcher does not foresee.
constexpr std::int64_t kRowsAtOnce = 8;

template <class Unit, int Width>
void copy_panels(const char* from, std::int64_t k_bytes, std::int64_t panels, std::int64_t ks,
                 float* to) {
  for (std::int64_t first = 0; first < ks; first += kRowsAtOnce) {
    const std::int64_t last = std::min(first + kRowsAtOnce, ks);
    for (std::int64_t p = 0; p < panels; ++p) {
      const char* column = from + p * Width * Unit::kBytes;
      float* panel = to + p * ks * Width;
      for (std::int64_t k = first; k < last; ++k) {
        __builtin_prefetch(column + (k + kRowsAtOnce) * k_bytes);
        copy_row<Unit, Width>(column + k * k_bytes, panel + k * Width);
      }
    }
  }
}

template <int Width>
void interleave_panels(const char* from, std::int64_t k_bytes, std::int64_t panels,
                       std::int64_t pairs, std::int64_t panel_pairs, float* to) {
  for (std::int64_t first = 0; first < pairs; first += kRowsAtOnce / 2) {
    const std::int64_t last = std::min(first + kRowsAtOnce / 2, pairs);
    for (std::int64_t p = 0; p < panels; ++p) {
      float* panel = to + p * panel_pairs * Width;
      for (std::int64_t k = first; k < last; ++k) {
        const char* even = from + 2 * k * k_bytes + p * Width * 2;
        __builtin_prefetch(even + kRowsAtOnce * k_bytes);
        __builtin_prefetch(even + (kRowsAtOnce + 1) * k_bytes);
        interleave_row<Width>(even, even + k_bytes, panel + k * Width);
      }
    }
  }
}

// The part of the job that the fast code leaves: k from `k` on, all panels from `panel` on.
void pack_rest(const PackJob& job, PackUnit unit, std::int64_t panel, std::int64_t k_units) {
  const std::int64_t units = units_of(job.ks, unit);
  const std::int64_t k = unit == PackUnit::bf16_pair ? 2 * k_units : k_units;
  if (k >= job.ks) return;
  for (; panel * job.width < job.lanes; ++panel) {
    PackJob rest = job;
    rest.data = at(job.data, job.dtype, panel * job.width * job.lane_stride + k * job.k_stride);
    rest.lanes = std::min<std::int64_t>(job.width, job.lanes - panel * job.width);
    rest.ks = job.ks - k;
    rest.panels = static_cast<float*>(job.panels) + (panel * units + k_units) * job.width;
    pack_scalar(rest, unit);
  }
}

template <class Unit, int Width>
void pack_units(const PackJob& job, PackUnit unit) {
  const auto* from = static_cast<const char*>(job.data);
  auto* to = static_cast<float*>(job.panels);
  const std::int64_t element_bytes = job.dtype == DType::f32 ? 4 : 2;
  const std::int64_t units = units_of(job.ks, unit);
  const std::int64_t whole_units = unit == PackUnit::bf16_pair ? job.ks / 2 : job.ks;
  if (job.k_stride == 1) {
    const std::int64_t lane_bytes = job.lane_stride * element_bytes;
    const std::int64_t fast = whole_units / 8 * 8;
    for (std::int64_t lane = 0; lane < job.lanes; lane += Width)
      transpose_panel<Unit, Width>(from + lane * lane_bytes, lane_bytes, job.lanes - lane, fast,
                                   to + lane * units);
    return pack_rest(job, unit, 0, fast);
  }
  const std::int64_t panels = job.lanes / Width;
  const std::int64_t k_bytes = job.k_stride * element_bytes;
  if (unit == PackUnit::f32) {
    copy_panels<Unit, Width>(from, k_bytes, panels, job.ks, to);
  } else {
    interleave_panels<Width>(from, k_bytes, panels, whole_units, units, to);
    if (whole_units < units && panels > 0) {
      PackJob whole = job;
      whole.lanes = panels * Width;
      pack_rest(whole, unit, 0, whole_units);
    }
  }
  pack_rest(job, unit, panels, 0);
}

template <class Unit>
void pack_width(const PackJob& job, PackUnit unit) {
  switch (job.width) {
    case 6:
      return pack_units<Unit, 6>(job, unit);
    case 14:
      return pack_units<Unit, 14>(job, unit);
    case 16:
      return pack_units<Unit, 16>(job, unit);
    case 32:
      return pack_units<Unit, 32>(job, unit);
    default:
      return pack_scalar(job, unit);
  }
}

}  // namespace

void pack_avx2(const PackJob& job, PackUnit unit) {
  if (job.k_stride != 1 && job.lane_stride != 1) return pack_scalar(job, unit);
  if (unit == PackUnit::bf16_pair || job.dtype == DType::f32) return pack_width<F32>(job, unit);
  if (job.dtype == DType::bf16) return pack_width<Bf16>(job, unit);
  return pack_width<Fp16>(job, unit);
}

}  // namespace rooftile::ops::gemm

ROOFTILE_SIMD_END
#endif
