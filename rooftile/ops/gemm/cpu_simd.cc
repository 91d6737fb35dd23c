// SPDX-License-Identifier: Apache-2.0
// The blocked multiplication: packed panels, a register kernel, an epilogue in cache. The loops are
// those of Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", 2008) and
// BLIS (Van Zee and van de Geijn, 2015), except that a task keeps its sums in a buffer of its own
// until k is done, so that D may be of any type, be strided or be the residual, and is rounded
// once.
//
// Batch-invariant: one chain of multiply-adds along k for each element, wherever it lies.
#include "rooftile/ops/gemm/cpu_blocked.h"

namespace rooftile::ops::gemm {
namespace {

std::vector<Config> configs(const Problem&, const DeviceProperties&) {
  std::vector<Config> list;
  for (const BlockedConfig& c : blocked_configs(cpu_isa()))
    list.push_back({{{"mc", c.mc}, {"nc", c.nc}, {"kc", c.kc}}});
  return list;
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const GemmCall shape = shape_of(problem);
  const BlockedConfig blocks{.mc = static_cast<int>(config.at("mc")),
                             .nc = static_cast<int>(config.at("nc")),
                             .kc = static_cast<int>(config.at("kc"))};
  const BlockedPlan plan =
      plan_blocked(shape, device.properties().compute_units, cpu_isa(), blocks);
  const auto run = [shape, plan](const Context& context, const Arguments& args) {
    run_blocked(with_pointers(shape, args), plan, context.workspace, launch_on(*context.stream));
  };
  return {.run = run, .workspace_bytes = plan.workspace_bytes()};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "gemm",
    .name = "cpu_simd",
    .idea =
        "packed panels, a register kernel and an epilogue in cache (Goto and van de Geijn 2008)",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return takes_types(problem); },
    .configs = configs,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
