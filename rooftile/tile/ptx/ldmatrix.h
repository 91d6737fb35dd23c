// SPDX-License-Identifier: Apache-2.0
// Matrices of 8 x 8 elements of 16 bits between shared memory and a warp's registers. PTX ISA,
// "ldmatrix", "stmatrix" (sm_90), "movmatrix". All 32 lanes execute each together.
//
// Lane 8j + r gives the address of row r (16 bytes, aligned) of matrix j. Register j of lane l
// holds of matrix j
//
//   bits       31        16 15         0
//   plain    | [l/4][2(l%4)+1] | [l/4][2(l%4)] |
//   trans    | [2(l%4)+1][l/4] | [2(l%4)][l/4] |
#pragma once

#include "rooftile/tile/ptx/shared_address.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/matrix.h"
#endif

namespace rooftile {

enum class Transpose : bool { no, yes };

/// ldmatrix.x1, .x2, .x4 by the count of registers. `row` is used of the first 8 * count lanes; the
/// others may give any address.
template <Transpose kTranspose = Transpose::no, int kCount>
__device__ __forceinline__ void ldmatrix(uint32_t (&r)[kCount], const void* row) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
#ifdef __CUDACC__
#define ROOFTILE_LDMATRIX(form, list, ...)                                          \
  if constexpr (kTranspose == Transpose::yes)                                       \
    asm volatile("ldmatrix.sync.aligned.m8n8." form ".trans.shared.b16 {" list "];" \
                 : __VA_ARGS__                                                      \
                 : "r"(shared_address(row))                                         \
                 : "memory");                                                       \
  else                                                                              \
    asm volatile("ldmatrix.sync.aligned.m8n8." form ".shared.b16 {" list "];"       \
                 : __VA_ARGS__                                                      \
                 : "r"(shared_address(row))                                         \
                 : "memory");
  if constexpr (kCount == 1) {
    ROOFTILE_LDMATRIX("x1", "%0}, [%1", "=r"(r[0]))
  } else if constexpr (kCount == 2) {
    ROOFTILE_LDMATRIX("x2", "%0, %1}, [%2", "=r"(r[0]), "=r"(r[1]))
  } else {
    ROOFTILE_LDMATRIX("x4", "%0, %1, %2, %3}, [%4", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]))
  }
#undef ROOFTILE_LDMATRIX
#else
  sim::ldmatrix(r, row, kCount, kTranspose == Transpose::yes);
#endif
}

/// stmatrix.x1, .x2, .x4.
template <Transpose kTranspose = Transpose::no, int kCount>
__device__ __forceinline__ void stmatrix(void* row, const uint32_t (&r)[kCount]) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
#ifdef __CUDACC__
#define ROOFTILE_STMATRIX(form, list, ...)                                           \
  if constexpr (kTranspose == Transpose::yes)                                        \
    asm volatile("stmatrix.sync.aligned.m8n8." form ".trans.shared.b16 [%0], {" list \
                 "};" ::"r"(shared_address(row)),                                    \
                 __VA_ARGS__                                                         \
                 : "memory");                                                        \
  else                                                                               \
    asm volatile("stmatrix.sync.aligned.m8n8." form ".shared.b16 [%0], {" list       \
                 "};" ::"r"(shared_address(row)),                                    \
                 __VA_ARGS__                                                         \
                 : "memory");
  if constexpr (kCount == 1) {
    ROOFTILE_STMATRIX("x1", "%1", "r"(r[0]))
  } else if constexpr (kCount == 2) {
    ROOFTILE_STMATRIX("x2", "%1, %2", "r"(r[0]), "r"(r[1]))
  } else {
    ROOFTILE_STMATRIX("x4", "%1, %2, %3, %4", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]))
  }
#undef ROOFTILE_STMATRIX
#else
  sim::stmatrix(row, r, kCount, kTranspose == Transpose::yes);
#endif
}

/// movmatrix.trans: the transposed matrix, from and to registers as of one plain ldmatrix.
__device__ __forceinline__ uint32_t movmatrix(uint32_t value) {
#ifdef __CUDACC__
  uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(value));
  return result;
#else
  return sim::movmatrix(value);
#endif
}

}  // namespace rooftile
