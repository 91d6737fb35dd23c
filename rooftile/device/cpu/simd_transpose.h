// SPDX-License-Identifier: Apache-2.0
// Rows into lanes, for kernels whose vectors run across the rows of a matrix in memory. One
// function in simd::scalar, simd::avx2 and simd::avx512, with the same result on each:
//   transpose_rows(to, rows, n): to[i * kLanes + r] = rows[r][i] in f32, r < kLanes, i < n
#pragma once

#include "rooftile/device/cpu/simd.h"

namespace rooftile::simd::scalar {

template <class T>
void transpose_rows(float* to, const T* const* rows, std::int64_t n) {
  for (int r = 0; r < kLanes; ++r)
    for (std::int64_t i = 0; i < n; ++i) to[i * kLanes + r] = static_cast<float>(rows[r][i]);
}

}  // namespace rooftile::simd::scalar

#if ROOFTILE_SIMD_HAS_X86
ROOFTILE_SIMD_BEGIN_AVX2
namespace rooftile::simd::avx2 {
#include "rooftile/device/cpu/simd_transpose.inc"
}
ROOFTILE_SIMD_END

ROOFTILE_SIMD_BEGIN_AVX512
namespace rooftile::simd::avx512 {
#include "rooftile/device/cpu/simd_transpose.inc"
}
ROOFTILE_SIMD_END
#endif
