// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/cpu_columns.h"

#include <algorithm>

#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {
namespace {

// Below this a thread costs more to wake than it brings.
constexpr double kLeastBytesPerThread = 32 << 10;
// Tasks are short, so that a thread that is held up does not hold up all, but long enough that the
// prefetcher, which starts anew with each, is worth its start.
constexpr std::int64_t kTaskBytes = 64 << 10;
constexpr std::int64_t kTasksPerThread = 4;
constexpr std::int64_t kUnit = 16;
// What is asked for before the first task: as much as the dot products then ask for ahead.
constexpr std::int64_t kStartBytes = 1024;

void prefetch_start(const char* b) {
  for (std::int64_t i = 0; i < kStartBytes; i += 64) __builtin_prefetch(b + i);
}

}  // namespace

ColumnsPlan plan_columns(const GemmCall& call, int threads, std::int64_t x_bytes) {
  ColumnsPlan plan{};
  const std::int64_t n = std::max<std::int64_t>(call.n, 1);
  const std::int64_t column = std::max<std::int64_t>(bytes_of(call.b.dtype, call.k), 1);
  const double bytes = static_cast<double>(n) * static_cast<double>(column);
  plan.workers =
      static_cast<int>(std::clamp(bytes / kLeastBytesPerThread, 1.0, static_cast<double>(threads)));
  const std::int64_t share = ceil_div(n, plan.workers * (plan.workers > 1 ? kTasksPerThread : 1));
  const std::int64_t most = std::max(kTaskBytes / column, kUnit);
  plan.cols = ceil_div(std::min(share, most), kUnit) * kUnit;
  plan.x_bytes = x_bytes;
  plan.slot_bytes = x_bytes + std::max<std::int64_t>(call.m, 1) * plan.cols * 4;
  return plan;
}

void run_columns(const GemmCall& call, const ColumnsPlan& plan, void* workspace, Launch launch,
                 FunctionRef<void(char* x)> make_ready, FunctionRef<void(const ColumnsTask&)> dot) {
  const DTypeInfo& type = info(call.b.dtype);
  const std::int64_t b_bytes = call.b.col_stride / type.unit_elements * type.unit_bytes;
  const auto* b = static_cast<const char*>(call.b.data);
  const std::int64_t tasks = ceil_div(call.n, plan.cols);
  const std::int64_t workers = std::min<std::int64_t>(plan.workers, tasks);
  TaskRuns runs(workers, tasks);
  launch(workers, [&](std::int64_t worker) {
    if (runs.are_taken()) return;  // by those who came before
    char* slot = static_cast<char*>(workspace) + worker * plan.slot_bytes;
    prefetch_start(b + runs.first(worker) * plan.cols * b_bytes);
    make_ready(slot);
    runs.take(worker, [&](std::int64_t task) {
      const std::int64_t col = task * plan.cols;
      const ColumnsTask block{.x = slot,
                              .sums = reinterpret_cast<float*>(slot + plan.x_bytes),
                              .ld = plan.cols,
                              .rows = call.m,
                              .cols = std::min(plan.cols, call.n - col),
                              .ks = call.k,
                              .dtype = call.b.dtype,
                              .b = b + col * b_bytes,
                              .b_bytes = b_bytes};
      dot(block);
      finish_block(call, {.acc = block.sums,
                          .ld = block.ld,
                          .row = 0,
                          .col = col,
                          .rows = block.rows,
                          .cols = block.cols});
    });
  });
}

}  // namespace rooftile::ops::gemm
