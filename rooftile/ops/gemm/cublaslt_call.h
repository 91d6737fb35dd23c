// SPDX-License-Identifier: Apache-2.0
// A problem of gemm as cuBLASLt counts: column by column. Our row-major D is its D transposed, so
// it is asked for D^T = B^T A^T, with our B in the place of its A. Plain data, so that what is
// asked for can be tested where there is no GPU.
#pragma once

#include <cstdint>

#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm {

/// A matrix column by column: element (i, j) lies i + j * ld elements from its start.
struct ColumnMajor {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  std::int64_t alignment = 0;  // bytes: what the start is promised to be a multiple of, at most 16
};

/// d (n x m) = relu(op(b) op(a) + bias of each row) or op(b) op(a) + bias + residual, op being a
/// transposition or nothing.
struct CublasLtCall {
  ColumnMajor b{}, a{}, d{};
  ColumnMajor residual{};  // as d where there is none
  bool transposes_b = false;
  bool transposes_a = false;
  bool has_bias = false;
  bool has_residual = false;
  bool has_relu = false;
  std::int64_t bias_alignment = 0;
};

/// Whether cuBLASLt means the same by it: types, layouts, and epilogues in our order and with our
/// functions.
Support takes_cublaslt(const Problem& problem);

/// Of a problem that takes_cublaslt().
CublasLtCall cublaslt_call(const Problem& problem);

}  // namespace rooftile::ops::gemm
