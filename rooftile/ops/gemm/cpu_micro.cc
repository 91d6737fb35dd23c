// SPDX-License-Identifier: Apache-2.0
// The shapes of the register kernels: as many sums as the registers hold beside one row of B and
// one broadcast of A, so that the multiply-add units never wait for a sum.
//   AVX2, 16 registers:     6 x 16  12 sums (BLIS's shape for Haswell and Zen)
//   AVX-512, 32 registers: 14 x 32  28 sums
#include "rooftile/ops/gemm/cpu_micro.h"

#include "rooftile/device/cpu/simd.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/gemm/cpu_micro_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::gemm {

MicroKernel scalar_micro() { return scalar::make_micro<6, 1>(); }
#if defined(__x86_64__)
MicroKernel avx2_micro() { return avx2::make_micro<6, 1>(); }
MicroKernel avx512_micro() { return avx512::make_micro<14, 2>(); }
#endif

}  // namespace rooftile::ops::gemm
