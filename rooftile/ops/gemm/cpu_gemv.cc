// SPDX-License-Identifier: Apache-2.0
// A few rows times a matrix: bound by reading B, so B is read once, in the order in which it lies,
// and widened on the way; the sums wait in the first-level cache. Where B's rows are contiguous
// four of them are added at once to the sums of a block of columns; where its columns are, they are
// dot products, a few columns at once so that the memory has several streams to fetch.
#include "rooftile/ops/gemm/cpu_gemv.h"

#include <algorithm>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/ops/gemm/cpu_pack.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/gemm/cpu_gemv_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::gemm {
namespace {

constexpr std::int64_t kLanes = simd::kLanes;
constexpr double kLeastBytesPerThread = 128 << 10;
// Sums of rows: long rows keep the prefetcher on its way, so tasks are few and wide; the sums may
// take this many floats of a second-level cache.
constexpr std::int64_t kMostSums = 32768;
// Dot products: columns of a task, and along k what four columns may take of a first-level cache.
constexpr std::int64_t kDotCols = 64;
constexpr std::int64_t kDotBlock = 1024;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace

GemvPlan plan_gemv(const GemmCall& call, int threads) {
  GemvPlan plan{};
  const std::int64_t m = std::max<std::int64_t>(call.m, 1);
  const std::int64_t n = std::max<std::int64_t>(call.n, 1);
  plan.k_contiguous =
      call.n > 1 ? call.b.col_stride != 1 || call.b.row_stride == 1 : call.b.row_stride == 1;
  plan.copies_x = call.a.dtype != DType::f32 || call.a.col_stride != 1;
  const double bytes =
      static_cast<double>(n) * static_cast<double>(call.k) * (call.b.dtype == DType::f32 ? 4 : 2);
  plan.workers =
      static_cast<int>(std::clamp(bytes / kLeastBytesPerThread, 1.0, static_cast<double>(threads)));
  const std::int64_t share = ceil_div(n, plan.workers);
  plan.cols = round_up(std::min(share, plan.k_contiguous ? kDotCols : kMostSums / m), kLanes);
  plan.block_k = m == 1 ? round_up(std::max(call.k, kLanes), kLanes) : kDotBlock;
  plan.x_bytes = plan.copies_x ? round_up(m * round_up(call.k, kLanes) * 4, 64) : 0;
  plan.sum_bytes = m * plan.cols * 4;
  plan.slot_bytes = plan.sum_bytes * (plan.k_contiguous ? 1 + kLanes : 1);
  return plan;
}

void run_gemv(const GemmCall& call, const GemvPlan& plan, void* workspace, Launch launch) {
  if (call.m == 0 || call.n == 0) return;
  static const auto run_task = ROOFTILE_SIMD_CHOOSE(gemv_task);
  const auto* x = static_cast<const float*>(call.a.data);
  std::int64_t x_stride = call.a.row_stride;
  auto* slots = static_cast<char*>(workspace) + plan.x_bytes;
  if (plan.copies_x) {
    auto* copy = static_cast<float*>(workspace);
    x_stride = round_up(call.k, kLanes);
    for (std::int64_t r = 0; r < call.m; ++r)
      for (std::int64_t k = 0; k < call.k; ++k)
        copy[r * x_stride + k] =
            element(call.a.data, call.a.dtype, r * call.a.row_stride + k * call.a.col_stride);
    x = copy;
  }
  share_out(launch, plan.workers, ceil_div(call.n, plan.cols),
            [&](std::int64_t worker, std::int64_t task) {
              char* slot = slots + worker * plan.slot_bytes;
              const std::int64_t col = task * plan.cols;
              const GemvTask block{
                  .sums = reinterpret_cast<float*>(slot),
                  .partial = reinterpret_cast<float*>(slot + plan.sum_bytes),
                  .ld = plan.cols,
                  .rows = call.m,
                  .cols = std::min(plan.cols, call.n - col),
                  .ks = call.k,
                  .x = x,
                  .x_stride = x_stride,
                  .b = at(call.b.data, call.b.dtype, col * call.b.col_stride),
                  .b_stride = plan.k_contiguous ? call.b.col_stride : call.b.row_stride,
                  .block_k = plan.block_k};
              run_task(block, call.b.dtype, plan.k_contiguous);
              finish_block(call, {.acc = block.sums,
                                  .ld = block.ld,
                                  .row = 0,
                                  .col = col,
                                  .rows = block.rows,
                                  .cols = block.cols});
            });
}

namespace {

Support takes(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostGemvRows)
    return unsupported("takes at most " + std::to_string(kMostGemvRows) + " rows");
  const Dims& b = problem.arg("b").strides;
  if (problem.axis("n") > 1 && problem.axis("k") > 1 && b[0] != 1 && b[1] != 1)
    return unsupported("neither stride of b is 1");
  return takes_types(problem);
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const GemmCall shape = shape_of(problem);
  const GemvPlan plan = plan_gemv(shape, device.properties().compute_units);
  const auto run = [shape, plan](const Context& context, const Arguments& args) {
    run_gemv(with_pointers(shape, args), plan, context.workspace, launch_on(*context.stream));
  };
  return {.run = run, .workspace_bytes = plan.workspace_bytes()};
}

}  // namespace

extern const KernelDef cpu_gemv;
const KernelDef cpu_gemv{
    .op = "gemm",
    .name = "cpu_gemv",
    .idea = "a few rows: B is read once, in the order in which it lies, and widened on the way",
    .determinism = Determinism::batch_invariant,
    .supports = takes,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
