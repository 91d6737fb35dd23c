// SPDX-License-Identifier: Apache-2.0
// The blocked multiplication: packed panels, a register kernel, an epilogue in cache. The loops are
// those of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", 2008) and
// BLIS (Van Zee and van de Geijn, 2015), except that a task keeps its sums in a buffer of its own
// until k is done, so that D may be of any type, be strided or be the residual, and is rounded
// once.
//
// Batch-invariant: one chain of multiply-adds along k for each element, wherever it lies.
#include "rooftile/ops/gemm/cpu_activations.h"
#include "rooftile/ops/gemm/cpu_blocked.h"
#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {
namespace {

std::vector<Config> configs(const Problem&, const DeviceProperties&) {
  std::vector<Config> list;
  for (const BlockedConfig& c : blocked_configs(cpu_isa()))
    list.push_back({{{"mc", c.mc}, {"nc", c.nc}, {"kc", c.kc}}});
  return list;
}

// A with its rows rounded to int8 blocks: an f32 copy at the end of the workspace.
void round_rows(GemmCall& call, void* memory, Stream& stream) {
  auto* rows = static_cast<float*>(memory);
  stream.launch(call.m, [&](std::int64_t r) {
    widen_row(call.a, r, call.k, rows + r * call.k);
    round_row(rows + r * call.k, call.k);
  });
  call.a = {.data = rows, .dtype = DType::f32, .row_stride = call.k, .col_stride = 1};
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const GemmCall shape = shape_of(problem);
  const BlockedConfig blocks{.mc = static_cast<int>(config.at("mc")),
                             .nc = static_cast<int>(config.at("nc")),
                             .kc = static_cast<int>(config.at("kc"))};
  const BlockedPlan plan =
      plan_blocked(shape, device.properties().compute_units, cpu_isa(), blocks);
  const bool rounds = has_int8_activations(problem);
  const std::int64_t own_bytes = ceil_div(plan.workspace_bytes(), 64) * 64;
  const auto run = [shape, plan, rounds, own_bytes](const Context& context, const Arguments& args) {
    GemmCall call = with_pointers(shape, args);
    if (rounds)
      round_rows(call, static_cast<char*>(context.workspace) + own_bytes, *context.stream);
    run_blocked(call, plan, context.workspace, launch_on(*context.stream));
  };
  return {.run = run, .workspace_bytes = own_bytes + (rounds ? shape.m * shape.k * 4 : 0)};
}

Support takes(const Problem& problem, const DeviceProperties&) {
  return info(problem.dtype("b")).is_block() ? takes_blocks(problem) : takes_types(problem);
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "gemm",
    .name = "cpu_simd",
    .idea =
        "packed panels, a register kernel and an epilogue in cache (Goto and van de Geijn 2008)",
    .determinism = Determinism::batch_invariant,
    .supports = takes,
    .configs = configs,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
