// SPDX-License-Identifier: Apache-2.0
// Matrix multiply-accumulate of a warp, m16n8k*. PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions", mma. All 32 lanes execute it together.
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/matrix_types.h"
#ifdef __CUDACC__
#include "rooftile/tile/ptx/instruction_text.h"
#else
#include "rooftile/tile/sim/matrix.h"
#endif

namespace rooftile {

#ifdef __CUDACC__
/// The instruction for counts of registers of a and d. Operands: d, a, b, c, name.
template <class Register, int kRegistersA, int kRegistersD>
struct MmaAssembly;

#define ROOFTILE_MMA_4(type, c)                                                                     \
  template <>                                                                                       \
  struct MmaAssembly<type, 2, 4> {                                                                  \
    template <class Name>                                                                           \
    static __device__ __forceinline__ void run(type (&d)[4], const uint32_t (&a)[2],                \
                                               const uint32_t (&b)[1], const type (&in)[4]) {       \
      asm volatile("mma.sync.aligned%11 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"       \
                   : "=" c(d[0]), "=" c(d[1]), "=" c(d[2]), "=" c(d[3])                             \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), c(in[0]), c(in[1]), c(in[2]), c(in[3]),       \
                     "C"(Name::chars));                                                             \
    }                                                                                               \
  };                                                                                                \
  template <>                                                                                       \
  struct MmaAssembly<type, 4, 4> {                                                                  \
    template <class Name>                                                                           \
    static __device__ __forceinline__ void run(type (&d)[4], const uint32_t (&a)[4],                \
                                               const uint32_t (&b)[2], const type (&in)[4]) {       \
      asm volatile(                                                                                 \
          "mma.sync.aligned%14 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
          : "=" c(d[0]), "=" c(d[1]), "=" c(d[2]), "=" c(d[3])                                      \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), c(in[0]), c(in[1]),   \
            c(in[2]), c(in[3]), "C"(Name::chars));                                                  \
    }                                                                                               \
  };
ROOFTILE_MMA_4(float, "f")
ROOFTILE_MMA_4(int32_t, "r")
#undef ROOFTILE_MMA_4

template <>
struct MmaAssembly<uint32_t, 2, 2> {
  template <class Name>
  static __device__ __forceinline__ void run(uint32_t (&d)[2], const uint32_t (&a)[2],
                                             const uint32_t (&b)[1], const uint32_t (&in)[2]) {
    asm volatile("mma.sync.aligned%7 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(in[0]), "r"(in[1]), "C"(Name::chars));
  }
};
template <>
struct MmaAssembly<uint32_t, 4, 2> {
  template <class Name>
  static __device__ __forceinline__ void run(uint32_t (&d)[2], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2], const uint32_t (&in)[2]) {
    asm volatile("mma.sync.aligned%10 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(in[0]),
                   "r"(in[1]), "C"(Name::chars));
  }
};
#endif

/// mma.sync.aligned m16n8kK: d (16 x 8) = a (16 x K) * b (8 x K)^T + c. A and B as of Wgmma; K is
/// 32 bytes or half of that (tf32 4, 8; 16 bits 8, 16; int8 16, 32; fp8 32). D is float, fp16 (two
/// a register) or int32_t. fragment.h says which element a register holds.
template <class A, class B, class D, int kK>
struct Mma {
  static constexpr MatrixDtype kTypeA = MatrixElement<A>::kType;
  static constexpr MatrixDtype kTypeB = MatrixElement<B>::kType;
  static constexpr MatrixDtype kTypeD = MatrixElement<D>::kType;
  using Register = typename MatrixElement<D>::Register;
  static constexpr int kRegistersA = kK * MatrixElement<A>::kBits / 64;
  static constexpr int kRegistersB = kRegistersA / 2;
  static constexpr int kRegistersD = MatrixElement<D>::kBits / 8;

  static_assert(can_multiply(kTypeA, kTypeB, kTypeD), "no such combination of types");
  static_assert(kRegistersA == 4 || (kRegistersA == 2 && !is_fp8(kTypeA)),
                "no such K of this type");

  /// d may be c.
  static __device__ __forceinline__ void run(Register (&d)[kRegistersD],
                                             const uint32_t (&a)[kRegistersA],
                                             const uint32_t (&b)[kRegistersB],
                                             const Register (&c)[kRegistersD]) {
#ifdef __CUDACC__
    MmaAssembly<Register, kRegistersA, kRegistersD>::template run<Name>(d, a, b, c);
#else
    sim::mma(kForm, d, a, b, c);
#endif
  }

 private:
#ifdef __CUDACC__
  struct NameText {
    static constexpr InstructionText kText = InstructionText{}
                                                 .add(".m16n8k")
                                                 .add(kK)
                                                 .add(".row.col.")
                                                 .add(MatrixElement<D>::kName)
                                                 .add(".")
                                                 .add(MatrixElement<A>::kName)
                                                 .add(".")
                                                 .add(MatrixElement<B>::kName)
                                                 .add(".")
                                                 .add(MatrixElement<D>::kName);
  };
  using Name = MakeInstructionChars<NameText>;
#else
  static constexpr sim::MmaForm kForm{kTypeA, kTypeB, kTypeD, kK};
#endif
};

}  // namespace rooftile
