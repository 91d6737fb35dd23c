// SPDX-License-Identifier: Apache-2.0
// Multiplication of a few rows by a matrix that is read once, at the speed of memory.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/cpu_gemm.h"
#include "rooftile/ops/gemm/cpu_share.h"

namespace rooftile::ops::gemm {

/// Up to this many rows share one reading of B; for more the kernel is the wrong one.
inline constexpr std::int64_t kMostGemvRows = 8;

/// How a few-rows problem is cut up: a task is a block of columns.
struct GemvPlan {
  bool k_contiguous;  // B's columns are contiguous (dot products), else its rows are (sums of rows)
  bool copies_x;      // A is widened to f32 first
  int workers;
  std::int64_t cols;     // of a task, a multiple of 16
  std::int64_t block_k;  // of dot products: that much of A stays in the first-level cache
  std::int64_t x_bytes, sum_bytes, slot_bytes;

  [[nodiscard]] std::int64_t workspace_bytes() const { return x_bytes + workers * slot_bytes; }
};

/// For m <= kMostGemvRows, and a B of which one stride is 1 (or one extent at most 1).
GemvPlan plan_gemv(const GemmCall& call, int threads);

/// `workspace` holds plan.workspace_bytes(), aligned to 64 bytes. Allocates nothing.
void run_gemv(const GemmCall& call, const GemvPlan& plan, void* workspace, Launch launch);

/// One task: sums[r * ld + c] = x[r] . B[:, c] for a block of columns.
struct GemvTask {
  float* sums;     // rows x ld; ld is a multiple of 16, at least cols
  float* partial;  // of dot products: rows x ld vectors of 16
  std::int64_t ld;
  std::int64_t rows, cols, ks;
  const float* x;
  std::int64_t x_stride;
  const void* b;          // of the first column
  std::int64_t b_stride;  // elements between rows, or between columns of dot products
  std::int64_t block_k;
};

}  // namespace rooftile::ops::gemm
