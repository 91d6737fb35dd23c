// SPDX-License-Identifier: Apache-2.0
// A few rows times weights in GGUF blocks, in f32: each block is read once, in the order in which
// it lies, and taken apart in registers. All ten types, from one description of each
// (device/cpu/simd_blocks.inc).
#include "rooftile/ops/gemm/cpu_gemv_blocks.h"

#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/gguf_blocks.h"
#include "rooftile/ops/gemm/cpu_activations.h"
#include "rooftile/ops/gemm/cpu_pack.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/gemm/cpu_gemv_blocks_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::gemm {
namespace {

struct Plan {
  ColumnsPlan columns;
  bool copies_x;          // A is widened, gathered or rounded first
  bool rounds_x;          // to int8 blocks
  std::int64_t x_stride;  // floats between its rows
};

Plan plan(const GemmCall& call, int threads, bool rounds_x) {
  const bool copies_x = rounds_x || call.a.dtype != DType::f32 || call.a.col_stride != 1;
  const std::int64_t stride = ceil_div(call.k, 16) * 16;
  const std::int64_t bytes = copies_x ? call.m * stride * 4 : 0;
  return {.columns = plan_columns(call, threads, bytes),
          .copies_x = copies_x,
          .rounds_x = rounds_x,
          .x_stride = copies_x ? stride : call.a.row_stride};
}

void copy_rows(const GemmCall& call, const Plan& plan, float* to) {
  for (std::int64_t r = 0; r < call.m; ++r) {
    widen_row(call.a, r, call.k, to + r * plan.x_stride);
    if (plan.rounds_x) round_row(to + r * plan.x_stride, call.k);
  }
}

void run(const GemmCall& call, const Plan& plan, void* workspace, Launch launch) {
  static const auto dot = ROOFTILE_SIMD_CHOOSE(dot_blocks);
  run_columns(
      call, plan.columns, workspace, launch,
      [&](char* x) {
        if (plan.copies_x) copy_rows(call, plan, reinterpret_cast<float*>(x));
      },
      [&](const ColumnsTask& columns) {
        const auto* x = plan.copies_x ? reinterpret_cast<const float*>(columns.x)
                                      : static_cast<const float*>(call.a.data);
        dot({.columns = columns, .x = x, .x_stride = plan.x_stride});
      });
}

Support takes(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostBlockRows)
    return unsupported("takes at most " + std::to_string(kMostBlockRows) + " rows");
  return takes_blocks(problem);
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const GemmCall shape = shape_of(problem);
  const Plan made = plan(shape, device.properties().compute_units, has_int8_activations(problem));
  return {.run =
              [shape, made](const Context& context, const Arguments& args) {
                run(with_pointers(shape, args), made, context.workspace,
                    launch_on(*context.stream));
              },
          .workspace_bytes = made.columns.workspace_bytes()};
}

}  // namespace

extern const KernelDef cpu_gemv_blocks;
const KernelDef cpu_gemv_blocks{
    .op = "gemm",
    .name = "cpu_gemv_blocks",
    .idea = "a few rows: weights in blocks are read once and taken apart in registers",
    .determinism = Determinism::batch_invariant,
    .supports = takes,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
