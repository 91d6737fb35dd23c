// SPDX-License-Identifier: Apache-2.0
// Kernels of mma_test.cc: mma.sync of many forms, ldmatrix and stmatrix, what else a warp does with
// matrices, and the same with one fault each.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/dp4a.h"
#include "rooftile/tile/ptx/elect.h"
#include "rooftile/tile/ptx/ldmatrix.h"
#include "rooftile/tile/ptx/mma.h"
#include "rooftile/tile/ptx/setmaxnreg.h"

#if ROOFTILE_DEVICE_CODE
using namespace rooftile;

template <class A, class B, class D, int kK>
__global__ void registers_only(typename MatrixElement<D>::Register* out,
                               const typename MatrixElement<D>::Register* in,
                               const uint32_t* from_a, const uint32_t* from_b) {
  using Instruction = Mma<A, B, D, kK>;
  typename Instruction::Register c[Instruction::kRegistersD], d[Instruction::kRegistersD];
  uint32_t a[Instruction::kRegistersA], b[Instruction::kRegistersB];
  const int lane = int(threadIdx.x);
  for (int i = 0; i < Instruction::kRegistersA; ++i)
    a[i] = from_a[lane * Instruction::kRegistersA + i];
  for (int i = 0; i < Instruction::kRegistersB; ++i)
    b[i] = from_b[lane * Instruction::kRegistersB + i];
  for (int i = 0; i < Instruction::kRegistersD; ++i) c[i] = in[lane * Instruction::kRegistersD + i];
  Instruction::run(d, a, b, c);
  for (int i = 0; i < Instruction::kRegistersD; ++i)
    out[lane * Instruction::kRegistersD + i] = d[i];
}

/// Matrices of 8 x 8 through registers: in rows of `pitch` bytes, out transposed where asked for.
template <int kCount, int kTransposeLoad, int kTransposeStore>
__global__ void move_matrices(uint4* out, const uint4* in, int pitch, uint32_t* registers) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  unsigned char* const result = memory + 8 * kCount * pitch;
  const int lane = int(threadIdx.x);
  if (lane < 8 * kCount) *reinterpret_cast<uint4*>(memory + lane * pitch) = in[lane];
  __syncwarp();
  uint32_t r[kCount];
  ldmatrix<Transpose(kTransposeLoad)>(r, memory + lane % (8 * kCount) * pitch);
  for (int i = 0; i < kCount; ++i) registers[lane * kCount + i] = r[i];
  stmatrix<Transpose(kTransposeStore)>(result + lane % (8 * kCount) * 16, r);
  __syncwarp();
  if (lane < 8 * kCount) out[lane] = reinterpret_cast<uint4*>(result)[lane];
}

enum MoveFault { kNone, kNotAligned, kOutside, kNotSynchronised, kHalfWarp, kGlobalRow };

template <int kFault>
__global__ void faulty_move(uint32_t* out, const uint4* in) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  const int lane = int(threadIdx.x);
  reinterpret_cast<uint4*>(memory)[lane] = in[lane];
  if (kFault != kNotSynchronised) __syncwarp();
  if (kFault == kHalfWarp && lane >= 16) return;
  const unsigned char* row = memory + lane * 16;
  if (kFault == kNotAligned && lane == 3) row += 8;
  if (kFault == kOutside && lane == 31) row += 16;
  if (kFault == kGlobalRow) row = reinterpret_cast<const unsigned char*>(in + lane);
  uint32_t r[4];
  ldmatrix(r, row);
  out[lane] = r[0] + r[1] + r[2] + r[3];
}

__global__ void lane_functions(uint32_t* out, const int32_t* in) {
  const int lane = int(threadIdx.x);
  out[lane] = movmatrix(uint32_t(in[lane]));
  out[32 + lane] = uint32_t(dp4a(in[lane], in[lane ^ 5], in[lane ^ 9]));
  out[64 + lane] = dp4a(uint32_t(in[lane]), uint32_t(in[lane ^ 5]), uint32_t(in[lane ^ 9]));
  out[96 + lane] = elect_sync();
  if (lane >= 16) out[128 + lane] = elect_sync(0xffff0000u);
}

enum RegisterFault { kRegistersFit, kTooMany, kNotUniform, kIncreaseToLess };

template <int kFault>
__global__ void __launch_bounds__(384, 1) move_registers(int* out) {
  if (threadIdx.x < 128) {
    if (kFault == kNotUniform && threadIdx.x < 32)
      setmaxnreg_dec<32>();
    else
      setmaxnreg_dec<40>();
  } else {
    setmaxnreg_inc<232>();
    if (kFault == kTooMany) setmaxnreg_inc<240>();
    if (kFault == kIncreaseToLess) setmaxnreg_inc<224>();
  }
  out[threadIdx.x] = 1;
}
#endif

ROOFTILE_KERNEL_TABLE(
    mma_kernels, ROOFTILE_KERNEL_ENTRY(registers_only<bf16, bf16, float, 16>),
    ROOFTILE_KERNEL_ENTRY(registers_only<bf16, bf16, float, 8>),
    ROOFTILE_KERNEL_ENTRY(registers_only<fp16, fp16, float, 16>),
    ROOFTILE_KERNEL_ENTRY(registers_only<fp16, fp16, fp16, 16>),
    ROOFTILE_KERNEL_ENTRY(registers_only<fp16, fp16, fp16, 8>),
    ROOFTILE_KERNEL_ENTRY(registers_only<tf32, tf32, float, 8>),
    ROOFTILE_KERNEL_ENTRY(registers_only<tf32, tf32, float, 4>),
    ROOFTILE_KERNEL_ENTRY(registers_only<e4m3, e5m2, float, 32>),
    ROOFTILE_KERNEL_ENTRY(registers_only<int8_t, uint8_t, int32_t, 32>),
    ROOFTILE_KERNEL_ENTRY(registers_only<uint8_t, int8_t, int32_t, 16>),
    ROOFTILE_KERNEL_ENTRY(move_matrices<1, 0, 0>), ROOFTILE_KERNEL_ENTRY(move_matrices<2, 1, 0>),
    ROOFTILE_KERNEL_ENTRY(move_matrices<4, 0, 1>), ROOFTILE_KERNEL_ENTRY(move_matrices<4, 1, 1>),
    ROOFTILE_KERNEL_ENTRY(faulty_move<kNone>), ROOFTILE_KERNEL_ENTRY(faulty_move<kNotAligned>),
    ROOFTILE_KERNEL_ENTRY(faulty_move<kOutside>),
    ROOFTILE_KERNEL_ENTRY(faulty_move<kNotSynchronised>),
    ROOFTILE_KERNEL_ENTRY(faulty_move<kHalfWarp>), ROOFTILE_KERNEL_ENTRY(faulty_move<kGlobalRow>),
    ROOFTILE_KERNEL_ENTRY(lane_functions), ROOFTILE_KERNEL_ENTRY(move_registers<kRegistersFit>),
    ROOFTILE_KERNEL_ENTRY(move_registers<kTooMany>),
    ROOFTILE_KERNEL_ENTRY(move_registers<kNotUniform>),
    ROOFTILE_KERNEL_ENTRY(move_registers<kIncreaseToLess>))
