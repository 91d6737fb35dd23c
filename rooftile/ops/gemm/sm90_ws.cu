// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel's definition, its launcher, and its instances for bf16 and a weight
// [n, k] (layout nt). See sm90_ws.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"
#if !ROOFTILE_DEVICE_CODE
#include <algorithm>
#include <cmath>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_ws_kernels;
extern const KernelTable sm90_ws_fp16_kernels;
extern const KernelTable sm90_ws_columns_bf16_kernels;
extern const KernelTable sm90_ws_residual_bf16_kernels;
extern const KernelTable sm90_ws_narrow_bf16_kernels;
extern const KernelTable sm90_ws_medium_bf16_kernels;
extern const KernelTable sm90_ws_medium_columns_bf16_kernels;
extern const KernelTable sm90_ws_medium_residual_bf16_kernels;
extern const KernelTable sm90_ws_layouts_bf16_kernels;
extern const KernelTable sm90_ws_layouts_any_bf16_kernels;
extern const KernelTable sm90_ws_columns_fp16_kernels;
extern const KernelTable sm90_ws_residual_fp16_kernels;
extern const KernelTable sm90_ws_narrow_fp16_kernels;
extern const KernelTable sm90_ws_medium_fp16_kernels;
extern const KernelTable sm90_ws_medium_columns_fp16_kernels;
extern const KernelTable sm90_ws_medium_residual_fp16_kernels;
extern const KernelTable sm90_ws_layouts_fp16_kernels;
extern const KernelTable sm90_ws_layouts_any_fp16_kernels;

namespace {

/// Whether ws_columns is for it, which takes a map of the residual, too.
bool has_columns(const OperandLayouts& layouts, Finish finish) {
  return layouts.is_nt() && (finish == Finish::columns || finish == Finish::residual);
}

GpuKernel find(const OperandLayouts& layouts, DType dtype, std::int64_t columns, Finish finish,
               int cluster) {
  std::string kernel = "ws<";
  if (has_columns(layouts, finish)) kernel = "ws_columns<";
  if (!layouts.is_nt()) kernel = "ws_layout<";
  kernel += std::string(name(dtype)) + ", ";
  if (!layouts.is_nt()) kernel += layouts.majors() + ", ";
  kernel += std::to_string(columns) + ", Finish::";
  if (has_columns(layouts, finish))
    kernel += finish == Finish::residual ? "residual" : "columns";
  else
    kernel += finish == Finish::plain ? "plain" : "any";
  kernel += ", " + std::to_string(cluster) + ">";
  return find_kernel(
      {&sm90_ws_kernels, &sm90_ws_fp16_kernels, &sm90_ws_columns_bf16_kernels,
       &sm90_ws_residual_bf16_kernels, &sm90_ws_narrow_bf16_kernels, &sm90_ws_medium_bf16_kernels,
       &sm90_ws_medium_columns_bf16_kernels, &sm90_ws_medium_residual_bf16_kernels,
       &sm90_ws_layouts_bf16_kernels, &sm90_ws_layouts_any_bf16_kernels,
       &sm90_ws_columns_fp16_kernels, &sm90_ws_residual_fp16_kernels, &sm90_ws_narrow_fp16_kernels,
       &sm90_ws_medium_fp16_kernels, &sm90_ws_medium_columns_fp16_kernels,
       &sm90_ws_medium_residual_fp16_kernels, &sm90_ws_layouts_fp16_kernels,
       &sm90_ws_layouts_any_fp16_kernels},
      kernel);
}

/// Waves of clusters, times what a tile takes: where the waves are the same the larger tile, which
/// reads less through L2, and the cluster, which shares B.
double estimate(const Problem& problem, const DeviceProperties& device, std::int64_t columns,
                int cluster) {
  constexpr double kFixedSteps = 6;  // of a tile: the ring fills, D leaves
  const double steps = static_cast<double>(tiles_of(problem.axis("k"), kStepK)) + kFixedSteps;
  const double rows = tiles_of(problem.axis("m"), kBlockM * cluster);
  const double clusters = rows * tiles_of(problem.axis("n"), columns);
  const double at_once = std::max(1, device.compute_units / cluster);
  // Measured: a column of narrow tiles takes longer, and tiles of no rows cost the others some.
  const double of_column = columns == 256 ? 1.0 : columns == 192 ? 1.07 : 1.12;
  const double idle = rows * cluster / std::max(1, tiles_of(problem.axis("m"), kBlockM)) - 1;
  const double slower = of_column * (cluster == 2 ? 1.0 : 1.04) * (1 + 0.3 * idle);
  return std::ceil(clusters / at_once) * static_cast<double>(columns) / 256 * steps * slower;
}

/// With its estimate.
std::vector<std::pair<double, Config> > estimates(const Problem& problem,
                                                  const DeviceProperties& device) {
  std::vector<std::pair<double, Config> > list;
  const bool is_nt = layouts_of(problem).is_nt();
  for (const std::int64_t columns : {256, 192, 128})
    for (const int cluster : {2, 1})
      if (is_nt || columns == 128 * cluster)  // see LAYOUT_ENTRIES_OF
        list.push_back({estimate(problem, device, columns, cluster),
                        {{{"block_n", columns}, {"cluster", cluster}}}});
  return list;
}

std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  return fastest_first(estimates(problem, device));
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const auto columns = static_cast<int>(config.at("block_n"));
  const auto cluster = static_cast<int>(config.at("cluster"));
  const OperandLayouts layouts = layouts_of(problem);
  const Output fixed = output_of(problem);
  const GpuKernel kernel = find(layouts, problem.dtype("a"), columns, fixed.finish, cluster);
  const WsLaunch fits = ws_launch(problem, device, columns, columns, cluster);
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (fits.order.count() == 0) return;
    const TensorMap a = operand_map(device, args["a"], 0, layouts.a_is_k, kBlockM);
    const TensorMap b = operand_map(device, args["b"], 1, layouts.b_is_k, columns / cluster);
    const Output out = with_arguments(fixed, args);
    const TensorMap d = out.finish != Finish::any ? output_map(device, args["d"]) : a;
    if (!has_columns(layouts, out.finish)) {
      launch(*context.stream, kernel, fits.shape, a, b, d, out, fits.order, fits.steps);
      return;
    }
    const TensorMap residual =
        out.finish == Finish::residual ? output_map(device, args["residual"]) : d;
    launch(*context.stream, kernel, fits.shape, a, b, d, residual, out, fits.order, fits.steps);
  }};
}

}  // namespace

double ws_estimate(const Problem& problem, const DeviceProperties& device) {
  return std::ranges::min(estimates(problem, device), {},
                          [](const auto& entry) { return entry.first; })
      .first;
}

extern const KernelDef sm90_ws;
const KernelDef sm90_ws{
    .op = "gemm",
    .name = "sm90_ws",
    .idea = "persistent, warp-specialised: TMA multicast into a ring, wgmma, D by TMA (CUTLASS)",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return supports_tma(problem); },
    .configs = configs,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_ws_kernels, WS_ENTRIES(bf16, 256), WS_ENTRIES(bf16, 128))

}  // namespace rooftile::ops::gemm
