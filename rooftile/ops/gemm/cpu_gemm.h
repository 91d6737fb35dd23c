// SPDX-License-Identifier: Apache-2.0
// What the matrix multiplications of the cpu device are given: the operands as strided views; and
// their epilogue, which sees finished blocks of the f32 sum while they are still in cache.
//   D[m,n] = act(A[m,k] . B[k,n] + bias[n]) + residual[m,n]
#pragma once

#include <cstdint>
#include <optional>

#include "rooftile/core/dtype.h"
#include "rooftile/device/cpu/activation.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm {

/// A matrix in memory; strides are in elements and may be anything, 0 and negative included.
struct Matrix {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

/// A finished block of A . B: `acc[r * ld + c]` belongs to D[row + r, col + c]. Its rows may be
/// overwritten, and end in padding of no meaning up to a multiple of 16.
struct AccBlock {
  float* acc;
  std::int64_t ld;
  std::int64_t row, col;
  std::int64_t rows, cols;
};

struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  void* d = nullptr;
  DType d_dtype = DType::f32;
  std::int64_t d_row_stride = 0, d_col_stride = 1;
  Matrix a{};         // m x k
  Matrix b{};         // k x n
  Matrix bias{};      // 1 x n, or no data
  Matrix residual{};  // m x n, or no data; may be D itself
  Act act = Act::none;
};

/// Writes a block of D: bias, activation and residual in f32, rounded once to D's type. Called from
/// several threads, once for each element of D in all.
void finish_block(const GemmCall& call, const AccBlock& block);

/// Whether every argument is f32, bf16 or fp16 without block scales.
Support takes_types(const Problem& problem);

/// Whether B is GGUF blocks, and every other argument as takes_types says.
Support takes_blocks(const Problem& problem);

/// Whether A is to be rounded to int8 blocks (formats/int8_blocks.h).
bool has_int8_activations(const Problem& problem);

/// A matrix as BLAS knows them: rows or columns contiguous, `ld` elements apart and not
/// overlapping.
struct PlainLayout {
  bool is_transposed;  // columns are contiguous
  std::int64_t ld;
};
/// Nothing for any other matrix. Strides of an extent of at most 1 do not matter.
std::optional<PlainLayout> plain_layout(std::int64_t rows, std::int64_t cols, const Matrix& matrix);

/// The problem without its pointers: all that planning needs.
GemmCall shape_of(const Problem& problem);

/// The same with the pointers of one run.
GemmCall with_pointers(GemmCall shape, const Arguments& args);

}  // namespace rooftile::ops::gemm
