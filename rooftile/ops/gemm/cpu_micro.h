// SPDX-License-Identifier: Apache-2.0
// The register kernel of the blocked multiplication: a tile of C from one packed panel of A and one
// of B. Every kernel adds along k in one chain, and starts a later block of k from the sum in C, so
// the bits of an element depend neither on the blocking nor on where in the tile it lies.
//
//   packed A:  [k][mr]   packed B:  [k][nr]      (one f32, or one pair of bf16 along k, a unit)
#pragma once

#include <cstdint>

#include "rooftile/device/cpu/isa.h"

namespace rooftile::ops::gemm {

/// What one packed unit of 32 bits holds.
enum class PackUnit : std::uint8_t { f32, bf16_pair };

/// c[r * ldc + j] (+)= sum over k of a[k][r] * b[k][j], for r < rows and all nr columns.
struct MicroArgs {
  std::int64_t units;  // packed units along k
  const void* a;
  const void* b;
  float* c;
  std::int64_t ldc;
  bool accumulate;  // else C is not read
  // Memory that will be packed next: units / 2 lines, ahead_stride bytes apart, are asked for on
  // the way. Why here: the memory would have nothing to do while we multiply, and we nothing while
  // we pack.
  const void* ahead;
  std::int64_t ahead_stride;
};

struct MicroKernel {
  int mr;
  int nr;
  PackUnit unit;
  void (*run)(int rows, const MicroArgs& args);
};

MicroKernel scalar_micro();
MicroKernel avx2_micro();
MicroKernel avx512_micro();
MicroKernel avx512_bf16_micro();

/// The kernel for this processor; the pair kernel only where both operands are bf16.
inline MicroKernel choose_micro(Isa isa, bool both_bf16) {
#if defined(__x86_64__)
  if (isa >= Isa::avx512_bf16 && both_bf16) return avx512_bf16_micro();
  if (isa >= Isa::avx512) return avx512_micro();
  if (isa >= Isa::avx2) return avx2_micro();
#endif
  (void)both_bf16;
  return scalar_micro();
}

}  // namespace rooftile::ops::gemm
