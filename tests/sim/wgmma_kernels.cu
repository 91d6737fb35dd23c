// SPDX-License-Identifier: Apache-2.0
// Kernels of wgmma_test.cc: one instruction of many forms, and a small pipeline with one fault
// each.
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/wgmma.h"

#if ROOFTILE_DEVICE_CODE
using namespace rooftile;

namespace {

/// `image` becomes the block's shared memory, seen by wgmma.
__device__ __forceinline__ void fill_shared(unsigned char* memory, const uint4* image, int chunks) {
  for (int i = int(threadIdx.x); i < chunks; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = image[i];
  fence_proxy_async_shared();
  __syncthreads();
}

template <class Register, int kCount>
__device__ __forceinline__ void load_registers(Register (&r)[kCount], const Register* from) {
  for (int i = 0; i < kCount; ++i) r[i] = from[threadIdx.x * kCount + i];
}
template <class Register, int kCount>
__device__ __forceinline__ void store_registers(Register* to, const Register (&r)[kCount]) {
  for (int i = 0; i < kCount; ++i) to[threadIdx.x * kCount + i] = r[i];
}

}  // namespace

/// d += a b, `steps` instructions of which each reads `advance_a` and `advance_b` bytes further on.
template <class A, class B, class D, int kN, int kMajorA = 0, int kMajorB = 0, int kScaleA = 1>
__global__ void __launch_bounds__(128)
    shared_a(typename MatrixElement<D>::Register* out,
             const typename MatrixElement<D>::Register* in, const uint4* image, int chunks,
             WgmmaLayout layout_a, WgmmaLayout layout_b, uint32_t b_at, uint32_t advance_a,
             uint32_t advance_b, int steps) {
  using Instruction = Wgmma<A, B, D, kN, Major(kMajorA), Major(kMajorB), kScaleA>;
  ROOFTILE_DYNAMIC_SHARED(memory);
  fill_shared(memory, image, chunks);
  typename Instruction::Register d[Instruction::kRegisters];
  load_registers(d, in);
  uint64_t a = wgmma_descriptor(memory, layout_a);
  uint64_t b = wgmma_descriptor(memory + b_at, layout_b);
  wgmma_fence(d);
  for (int step = 0; step < steps; ++step) {
    Instruction::ss(d, a, b, true);
    a = advanced(a, advance_a);
    b = advanced(b, advance_b);
  }
  wgmma_commit_group();
  wgmma_wait_group<0>(d);
  store_registers(out, d);
}

template <class A, class B, class D, int kN>
__global__ void __launch_bounds__(128)
    register_a(typename MatrixElement<D>::Register* out, const uint32_t* registers,
               const uint4* image, int chunks, WgmmaLayout layout_b) {
  using Instruction = Wgmma<A, B, D, kN>;
  ROOFTILE_DYNAMIC_SHARED(memory);
  fill_shared(memory, image, chunks);
  typename Instruction::Register d[Instruction::kRegisters];
  uint32_t a[4];
  load_registers(a, registers);
  wgmma_fence(d, a);
  Instruction::rs(d, a, wgmma_descriptor(memory, layout_b), false);
  wgmma_commit_group();
  wgmma_wait_group<0>(d, a);
  store_registers(out, d);
}

enum WgmmaFault {
  kNone,
  kNoProxyFence,
  kNoBarrier,
  kNoWait,
  kWaitTooEarly,
  kNoCommit,
  kNoFence,
  kWriteAfterFence,
  kNotUniform,
  kThreeWarps,
  kOtherInstruction,
  kInsidePattern,
  kOutOfRange,
  kChangedA,
  kChangedShared,
  kNeverWaited,
  kBaseOffset,
};

/// Two groups in flight: A (64 x 64) and B (64 x 64) of bf16 in rows of 128 bytes, 4 steps.
template <int kFault>
__global__ void __launch_bounds__(128) faulty(float* out, const uint4* image) {
  using Instruction = Wgmma<bf16, bf16, float, 64>;
  ROOFTILE_DYNAMIC_SHARED(memory);
  const int thread = int(threadIdx.x);
  for (int i = thread; i < 1024; i += 128) reinterpret_cast<uint4*>(memory)[i] = image[i];
  if (kFault != kNoProxyFence) fence_proxy_async_shared();
  if (kFault != kNoBarrier) __syncthreads();
  if (kFault == kThreeWarps && thread >= 96) return;
  WgmmaLayout layout = k_major_rows(Swizzle::bytes128);
  if (kFault == kBaseOffset) layout.base_offset = 1;
  uint64_t a = wgmma_descriptor(memory + (kFault == kInsidePattern ? 128 : 0), layout);
  uint64_t b = wgmma_descriptor(memory + 8192, layout);
  if (kFault == kOutOfRange) b = advanced(b, 8192);
  if (kFault == kNotUniform && thread == 77) b = advanced(b, 32);
  float d[32];
  uint32_t registers[4] = {0, 0, 0, 0};
  for (float& value : d) value = 0;
  if (kFault != kNoFence) wgmma_fence(d, registers);
  if (kFault == kWriteAfterFence) d[5] = 1;
  Instruction::ss(d, a, b, true);
  if (kFault == kOtherInstruction && thread >= 64)
    Wgmma<bf16, bf16, float, 64, Major::mn>::ss(d, a, b, true);
  else
    Instruction::ss(d, advanced(a, 32), advanced(b, 32), true);
  wgmma_commit_group();
  Instruction::rs(d, registers, advanced(b, 64), true);
  if (kFault == kChangedA) registers[2] = 7;
  Instruction::ss(d, advanced(a, 96), advanced(b, 96), true);
  if (kFault != kNoCommit) wgmma_commit_group();
  if (kFault == kChangedShared && thread == 0) reinterpret_cast<uint4*>(memory)[600] = image[0];
  if (kFault == kNeverWaited) return;
  wgmma_wait_group<1>();
  if (kFault != kWaitTooEarly && kFault != kNoWait) wgmma_wait_group<0>(d, registers);
  for (int i = 0; i < 32; ++i) out[thread * 32 + i] = d[i];
  if (kFault == kWaitTooEarly) wgmma_wait_group<0>();
}
#endif

ROOFTILE_KERNEL_TABLE(
    wgmma_kernels, ROOFTILE_KERNEL_ENTRY(shared_a<bf16, bf16, float, 128>),
    ROOFTILE_KERNEL_ENTRY(shared_a<bf16, bf16, float, 256>),
    ROOFTILE_KERNEL_ENTRY(shared_a<bf16, bf16, float, 64, 1, 1>),
    ROOFTILE_KERNEL_ENTRY(shared_a<fp16, fp16, float, 128, 0, 1, -1>),
    ROOFTILE_KERNEL_ENTRY(shared_a<fp16, fp16, fp16, 24, 1, 0>),
    ROOFTILE_KERNEL_ENTRY(shared_a<tf32, tf32, float, 40>),
    ROOFTILE_KERNEL_ENTRY(shared_a<e4m3, e5m2, float, 32>),
    ROOFTILE_KERNEL_ENTRY(shared_a<e5m2, e4m3, fp16, 16>),
    ROOFTILE_KERNEL_ENTRY(shared_a<int8_t, uint8_t, int32_t, 96>),
    ROOFTILE_KERNEL_ENTRY(register_a<bf16, bf16, float, 8>),
    ROOFTILE_KERNEL_ENTRY(register_a<tf32, tf32, float, 16>),
    ROOFTILE_KERNEL_ENTRY(register_a<e4m3, e4m3, float, 24>),
    ROOFTILE_KERNEL_ENTRY(register_a<uint8_t, int8_t, int32_t, 8>),
    ROOFTILE_KERNEL_ENTRY(faulty<kNone>), ROOFTILE_KERNEL_ENTRY(faulty<kNoProxyFence>),
    ROOFTILE_KERNEL_ENTRY(faulty<kNoBarrier>), ROOFTILE_KERNEL_ENTRY(faulty<kNoWait>),
    ROOFTILE_KERNEL_ENTRY(faulty<kWaitTooEarly>), ROOFTILE_KERNEL_ENTRY(faulty<kNoCommit>),
    ROOFTILE_KERNEL_ENTRY(faulty<kNoFence>), ROOFTILE_KERNEL_ENTRY(faulty<kWriteAfterFence>),
    ROOFTILE_KERNEL_ENTRY(faulty<kNotUniform>), ROOFTILE_KERNEL_ENTRY(faulty<kThreeWarps>),
    ROOFTILE_KERNEL_ENTRY(faulty<kOtherInstruction>), ROOFTILE_KERNEL_ENTRY(faulty<kInsidePattern>),
    ROOFTILE_KERNEL_ENTRY(faulty<kOutOfRange>), ROOFTILE_KERNEL_ENTRY(faulty<kChangedA>),
    ROOFTILE_KERNEL_ENTRY(faulty<kChangedShared>), ROOFTILE_KERNEL_ENTRY(faulty<kNeverWaited>),
    ROOFTILE_KERNEL_ENTRY(faulty<kBaseOffset>))
