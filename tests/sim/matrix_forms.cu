// SPDX-License-Identifier: Apache-2.0
// Compiled for sm_90a only to see that the wrappers of matrix instructions are instructions.
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/dp4a.h"
#include "rooftile/tile/ptx/elect.h"
#include "rooftile/tile/ptx/ldmatrix.h"
#include "rooftile/tile/ptx/mma.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#include "rooftile/tile/ptx/wgmma.h"

#if ROOFTILE_DEVICE_CODE
using namespace rooftile;

template <class Instruction>
__device__ void use_wgmma(float* out, uint64_t a, uint64_t b) {
  typename Instruction::Register d[Instruction::kRegisters] = {};
  uint32_t registers[4] = {1, 2, 3, threadIdx.x};
  wgmma_fence(d, registers);
  Instruction::ss(d, a, advanced(b, 32), false);
  Instruction::rs(d, registers, b, true);
  wgmma_commit_group();
  wgmma_wait_group<0>(d);
  for (auto value : d) out[threadIdx.x] += static_cast<float>(value);
}

__global__ void wgmma_forms(float* out) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  const uint64_t a = wgmma_descriptor(memory, k_major_rows(Swizzle::bytes128));
  const uint64_t b = wgmma_descriptor(memory + 8192, k_major_rows(Swizzle::bytes64));
  use_wgmma<Wgmma<bf16, bf16, float, 128>>(out, a, b);
  use_wgmma<Wgmma<bf16, bf16, float, 8, Major::k, Major::mn, -1, 1>>(out, a, b);
  use_wgmma<Wgmma<fp16, fp16, fp16, 24>>(out, a, b);
  use_wgmma<Wgmma<fp16, fp16, float, 64>>(out, a, b);
  use_wgmma<Wgmma<tf32, tf32, float, 16>>(out, a, b);
  use_wgmma<Wgmma<e4m3, e5m2, float, 32>>(out, a, b);
  use_wgmma<Wgmma<e5m2, e4m3, fp16, 8>>(out, a, b);
  use_wgmma<Wgmma<int8_t, uint8_t, int32_t, 96>>(out, a, b);
}

template <class Instruction>
__device__ void use_mma(float* out) {
  typename Instruction::Register d[Instruction::kRegistersD] = {};
  uint32_t a[Instruction::kRegistersA] = {threadIdx.x}, b[Instruction::kRegistersB] = {};
  Instruction::run(d, a, b, d);
  for (auto value : d) out[threadIdx.x] += static_cast<float>(value);
}

__global__ void mma_forms(float* out) {
  use_mma<Mma<bf16, bf16, float, 16>>(out);
  use_mma<Mma<bf16, bf16, float, 8>>(out);
  use_mma<Mma<fp16, fp16, fp16, 16>>(out);
  use_mma<Mma<fp16, fp16, fp16, 8>>(out);
  use_mma<Mma<fp16, fp16, float, 16>>(out);
  use_mma<Mma<tf32, tf32, float, 8>>(out);
  use_mma<Mma<tf32, tf32, float, 4>>(out);
  use_mma<Mma<e4m3, e5m2, float, 32>>(out);
  use_mma<Mma<e4m3, e4m3, fp16, 32>>(out);
  use_mma<Mma<int8_t, uint8_t, int32_t, 32>>(out);
  use_mma<Mma<uint8_t, int8_t, int32_t, 16>>(out);
}

__global__ void __launch_bounds__(384, 1) matrix_moves(uint32_t* out) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  uint32_t one[1], two[2], four[4];
  ldmatrix(one, memory);
  ldmatrix<Transpose::yes>(two, memory);
  ldmatrix(four, memory);
  stmatrix<Transpose::yes>(memory, one);
  stmatrix(memory + 16, two);
  stmatrix(memory + 32, four);
  setmaxnreg_dec<40>();
  setmaxnreg_inc<232>();
  out[threadIdx.x] = movmatrix(one[0]) + two[1] + four[3] + dp4a(one[0], two[0], four[2]) +
                     static_cast<uint32_t>(dp4a(int32_t(one[0]), int32_t(four[1]), 3));
  if (elect_sync()) out[0] = static_cast<uint32_t>(wgmma_accumulator(int(threadIdx.x), 3).row);
}
#endif
ROOFTILE_KERNEL_TABLE(matrix_compile_kernels, ROOFTILE_KERNEL_ENTRY(wgmma_forms),
                      ROOFTILE_KERNEL_ENTRY(mma_forms), ROOFTILE_KERNEL_ENTRY(matrix_moves))
