// SPDX-License-Identifier: Apache-2.0
// The 14 x 32 register kernel for AVX512_BF16: VDPBF16PS multiplies pairs of bf16 along k and adds
// both products to an f32 sum. The instruction takes subnormal inputs as zero and flushes subnormal
// sums (Intel SDM, VDPBF16PS), so results may differ from the f32 kernel's below 2^-126.
#include "rooftile/device/cpu/simd.h"
#include "rooftile/ops/gemm/cpu_micro.h"

#if defined(__x86_64__)

ROOFTILE_SIMD_BEGIN_AVX512_BF16
namespace rooftile::ops::gemm {
namespace {

constexpr int kRows = 14;
constexpr int kCols = 32;
constexpr int kVecs = 2;

ROOFTILE_SIMD_INLINE __m512bh pairs(const float* p) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(p));
}
ROOFTILE_SIMD_INLINE __m512bh same_pair(const float* p) {
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(std::bit_cast<std::int32_t>(*p)));
}

template <int Rows>
ROOFTILE_SIMD_INLINE void step(__m512 (&sum)[Rows][kVecs], const float* a, const float* b) {
  const __m512bh b0 = pairs(b);
  const __m512bh b1 = pairs(b + 16);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    const __m512bh a_r = same_pair(a + r);
    sum[r][0] = _mm512_dpbf16_ps(sum[r][0], a_r, b0);
    sum[r][1] = _mm512_dpbf16_ps(sum[r][1], a_r, b1);
  }
}

template <int Rows>
void tile(const MicroArgs& args) {
  __m512 sum[Rows][kVecs];  // [Rows][32]
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    const float* c = args.c + r * args.ldc;
    sum[r][0] = args.accumulate ? _mm512_loadu_ps(c) : _mm512_setzero_ps();
    sum[r][1] = args.accumulate ? _mm512_loadu_ps(c + 16) : _mm512_setzero_ps();
  }
  const auto* a = static_cast<const float*>(args.a);  // [unit][14], a pair in each
  const auto* b = static_cast<const float*>(args.b);  // [unit][32]
  const auto* ahead = static_cast<const char*>(args.ahead);
  std::int64_t k = args.units;
  for (; k >= 2; k -= 2, a += 2 * kRows, b += 2 * kCols) {
    __builtin_prefetch(ahead, 0, 2);
    ahead += args.ahead_stride;
    step<Rows>(sum, a, b);
    step<Rows>(sum, a + kRows, b + kCols);
  }
  if (k > 0) step<Rows>(sum, a, b);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    _mm512_storeu_ps(args.c + r * args.ldc, sum[r][0]);
    _mm512_storeu_ps(args.c + r * args.ldc + 16, sum[r][1]);
  }
}

template <int Rows>
void run_rows(int rows, const MicroArgs& args) {
  if constexpr (Rows > 1)
    if (rows < Rows) return run_rows<Rows - 1>(rows, args);
  tile<Rows>(args);
}

}  // namespace

MicroKernel avx512_bf16_micro() { return {kRows, kCols, PackUnit::bf16_pair, run_rows<kRows>}; }

}  // namespace rooftile::ops::gemm
ROOFTILE_SIMD_END

#endif
