// SPDX-License-Identifier: Apache-2.0
// A few rows times weights in blocks: the columns of B, each one run of blocks, are shared out
// among the threads, to each the columns next to each other; a kernel says how A is made ready and
// how one task's dot products are done. Why every worker makes A ready for itself: it takes as long
// as waiting for another, and meanwhile its own first columns are on their way from memory.
#pragma once

#include <cstdint>

#include "rooftile/base/function_ref.h"
#include "rooftile/ops/gemm/cpu_gemm.h"
#include "rooftile/ops/gemm/cpu_share.h"

namespace rooftile::ops::gemm {

/// Up to this many rows read B in its blocks; more rows are worth a decoded copy.
inline constexpr std::int64_t kMostBlockRows = 8;

struct ColumnsPlan {
  int workers;
  std::int64_t cols;     // of a task, a multiple of 16
  std::int64_t x_bytes;  // of the rows of A made ready, at the start of a worker's slot
  std::int64_t slot_bytes;

  [[nodiscard]] std::int64_t workspace_bytes() const { return workers * slot_bytes; }
};

/// `x_bytes` is a multiple of 64.
ColumnsPlan plan_columns(const GemmCall& call, int threads, std::int64_t x_bytes);

/// sums[r * ld + c] = (row r of A) . (column c), r < rows, c < cols.
struct ColumnsTask {
  char* x;  // A, as it was made ready
  float* sums;
  std::int64_t ld;
  std::int64_t rows, cols, ks;
  DType dtype;
  const char* b;         // the first column's blocks
  std::int64_t b_bytes;  // between columns
};

/// Calls `make_ready(x)` for every worker, `dot` for every task, then the epilogue. `workspace` is
/// aligned to 64 bytes.
void run_columns(const GemmCall& call, const ColumnsPlan& plan, void* workspace, Launch launch,
                 FunctionRef<void(char* x)> make_ready, FunctionRef<void(const ColumnsTask&)> dot);

}  // namespace rooftile::ops::gemm
