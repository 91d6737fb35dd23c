// SPDX-License-Identifier: Apache-2.0
// Matrix multiply-accumulate of a warpgroup (sm_90a). PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions". All 128 threads of an aligned warpgroup execute each with the
// same operands.
#pragma once

#include "rooftile/tile/ptx/matrix_types.h"
#include "rooftile/tile/ptx/wgmma_descriptor.h"
#ifdef __CUDACC__
#include "rooftile/tile/ptx/instruction_text.h"
#else
#include "rooftile/tile/sim/matrix.h"
#endif

namespace rooftile {

#ifdef __CUDACC__
__device__ __forceinline__ void hold_register(float& r) { asm volatile("" : "+f"(r)::"memory"); }
__device__ __forceinline__ void hold_register(uint32_t& r) { asm volatile("" : "+r"(r)::"memory"); }
__device__ __forceinline__ void hold_register(int32_t& r) { asm volatile("" : "+r"(r)::"memory"); }
template <class Register, int kCount>
__device__ __forceinline__ void hold_array(Register (&array)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) hold_register(array[i]);
}
#endif

/// Tells the compiler that an asynchronous instruction may use these arrays of registers here: no
/// access of them moves across. No instruction.
template <class... Registers>
__device__ __forceinline__ void hold_registers(Registers&... arrays) {
#ifdef __CUDACC__
  (hold_array(arrays), ...);
#else
  (static_cast<void>(arrays), ...);
#endif
}

/// wgmma.fence: orders accesses of registers before it with the wgmma after it. Needed before the
/// first wgmma, and wherever a thread has touched d or a since, unless the only thing that did was
/// another wgmma of the same shape.
template <class... Registers>
__device__ __forceinline__ void wgmma_fence(Registers&... arrays) {
  hold_registers(arrays...);
#ifdef __CUDACC__
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  sim::wgmma_fence();
#endif
}

/// wgmma.commit_group: the wgmma since the last one are a group.
__device__ __forceinline__ void wgmma_commit_group() {
#ifdef __CUDACC__
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  sim::wgmma_commit_group();
#endif
}

/// wgmma.wait_group: returns when at most kGroups of the latest groups are still in flight. Name
/// the accumulators that are used next, so that the compiler does not read them before.
template <int kGroups, class... Registers>
__device__ __forceinline__ void wgmma_wait_group(Registers&... arrays) {
  static_assert(kGroups >= 0 && kGroups <= 7);
#ifdef __CUDACC__
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
#else
  sim::wgmma_wait_group(kGroups);
#endif
  hold_registers(arrays...);
}

#ifdef __CUDACC__
/// The instruction for a type and count of registers of d.
template <class Register, int kRegisters>
struct WgmmaAssembly;

#define ROOFTILE_WGMMA(type, constraint, r, n0, n1, n2, n3, n4, n5, n6, n7)                        \
  template <>                                                                                      \
  struct WgmmaAssembly<type, r> {                                                                  \
    template <class Name, class Tail>                                                              \
    static __device__ __forceinline__ void ss(type (&d)[r], uint64_t a, uint64_t b, int add) {     \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #n2                                           \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned%" #n3 " {" ROOFTILE_LIST_##r "}, %" #n0 ", %" #n1 \
                                                                              ", p%" #n4 ";}\n"    \
                   : ROOFTILE_OPERANDS_##r(constraint)                                             \
                   : "l"(a), "l"(b), "r"(add), "C"(Name::chars), "C"(Tail::chars));                \
    }                                                                                              \
    template <class Name, class Tail>                                                              \
    static __device__ __forceinline__ void rs(type (&d)[r], const uint32_t (&a)[4], uint64_t b,    \
                                              int add) {                                           \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #n5                                           \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned%" #n6 " {" ROOFTILE_LIST_##r                      \
                   "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}, %" #n4 ", p%" #n7 ";}\n"          \
                   : ROOFTILE_OPERANDS_##r(constraint)                                             \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add),                 \
                     "C"(Name::chars), "C"(Tail::chars));                                          \
    }                                                                                              \
  };
#include "rooftile/tile/ptx/wgmma_registers.inc"
#undef ROOFTILE_WGMMA
#endif

/// wgmma.mma_async m64nNk*: d (64 x N) = a (64 x K) * b (N x K)^T + (accumulate ? d : 0), K of 32
/// bytes. A and B are bf16, fp16, tf32, e4m3, e5m2, int8_t or uint8_t, D is float, fp16 (two a
/// register) or int32_t. kScaleA and kScaleB negate an operand when they are -1. Only 16-bit types
/// may be mn-major. fragment.h says which element a register holds.
template <class A, class B, class D, int kN, Major kMajorA = Major::k, Major kMajorB = Major::k,
          int kScaleA = 1, int kScaleB = 1>
struct Wgmma {
  static constexpr MatrixDtype kTypeA = MatrixElement<A>::kType;
  static constexpr MatrixDtype kTypeB = MatrixElement<B>::kType;
  static constexpr MatrixDtype kTypeD = MatrixElement<D>::kType;
  static constexpr int kM = 64;
  static constexpr int kK = 256 / MatrixElement<A>::kBits;
  using Register = typename MatrixElement<D>::Register;
  static constexpr int kRegisters = kN / 2 * MatrixElement<D>::kBits / 32;

  static_assert(can_multiply(kTypeA, kTypeB, kTypeD), "no such combination of types");
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "N is a multiple of 8, from 8 to 256");
  static_assert(!is_int8(kTypeA) || kN % 16 == 0 || kN == 8 || kN == 24,
                "N of int8 is 8, 24 or a multiple of 16");
  static_assert(is_16_bit(kTypeA) || (kMajorA == Major::k && kMajorB == Major::k),
                "only 16-bit types may be mn-major");
  static_assert((kScaleA == 1 || kScaleA == -1) && (kScaleB == 1 || kScaleB == -1));
  static_assert(!is_int8(kTypeA) || (kScaleA == 1 && kScaleB == 1), "int8 has no scales");

  /// A and B in shared memory, given by descriptors.
  static __device__ __forceinline__ void ss(Register (&d)[kRegisters], uint64_t a, uint64_t b,
                                            bool accumulate) {
#ifdef __CUDACC__
    Assembly::template ss<Name, TailShared>(d, a, b, accumulate);
#else
    sim::wgmma(kForm, d, nullptr, a, b, accumulate);
#endif
  }

  /// A in registers. They may be changed again after the wait only, as d.
  static __device__ __forceinline__ void rs(Register (&d)[kRegisters], const uint32_t (&a)[4],
                                            uint64_t b, bool accumulate) {
    static_assert(kMajorA == Major::k, "A in registers has no major");
#ifdef __CUDACC__
    Assembly::template rs<Name, TailRegisters>(d, a, b, accumulate);
#else
    sim::wgmma(kForm, d, a, 0, b, accumulate);
#endif
  }

 private:
#ifdef __CUDACC__
  using Assembly = WgmmaAssembly<Register, kRegisters>;
  struct NameText {
    static constexpr InstructionText kText = InstructionText{}
                                                 .add(".m64n")
                                                 .add(kN)
                                                 .add("k")
                                                 .add(kK)
                                                 .add(".")
                                                 .add(MatrixElement<D>::kName)
                                                 .add(".")
                                                 .add(MatrixElement<A>::kName)
                                                 .add(".")
                                                 .add(MatrixElement<B>::kName);
  };
  template <bool kSharedA>
  struct TailText {
    static constexpr InstructionText make() {
      InstructionText text;
      if (is_int8(kTypeA)) return text.add(" ");
      text.add(", ").add(kScaleA).add(", ").add(kScaleB);
      if (!is_16_bit(kTypeA)) return text;
      if (kSharedA) text.add(", ").add(kMajorA == Major::mn);
      return text.add(", ").add(kMajorB == Major::mn);
    }
    static constexpr InstructionText kText = make();
  };
  using Name = MakeInstructionChars<NameText>;
  using TailShared = MakeInstructionChars<TailText<true>>;
  using TailRegisters = MakeInstructionChars<TailText<false>>;
#else
  static constexpr sim::WgmmaForm kForm{kTypeA,  kTypeB,  kTypeD,  kN,     kK,
                                        kMajorA, kMajorB, kScaleA, kScaleB};
#endif
};

}  // namespace rooftile
