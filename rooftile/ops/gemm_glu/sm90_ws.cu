// SPDX-License-Identifier: Apache-2.0
// The definition of gemm_glu/sm90_ws, its launcher, and its instances for bf16. See sm90_gated.h.
#include "rooftile/ops/gemm_glu/sm90_gated.h"
#if !ROOFTILE_DEVICE_CODE
#include <algorithm>

#include "rooftile/device/cpu/activation.h"
#include "rooftile/device/gpu_kernel.h"
#endif

namespace rooftile::ops::gemm_glu {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_ws_kernels;
extern const KernelTable sm90_ws_fp16_kernels;

namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (Support types = supports_16_bits(problem, {"gate", "up"}); !types) return types;
  const DType d = problem.dtype("d");
  if (d != DType::f32 && d != DType::bf16 && d != DType::fp16)
    return unsupported("d must be f32, bf16 or fp16");
  if (Support extents = supports_tma_extents(problem); !extents) return extents;
  for (const auto& [name, inner] : {std::pair{"a", 1}, {"gate", 0}, {"up", 0}})
    if (std::string reason = tma_reason(problem.arg(name), inner); !reason.empty())
      return unsupported(std::move(reason) + " (k contiguous: layout nt)");
  return supported();
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const auto columns = static_cast<int>(config.at("block_n"));
  const auto cluster = static_cast<int>(config.at("cluster"));
  const int columns_of_d = columns / 2;
  const bool is_by_tma = can_store_d(problem);
  const GpuKernel kernel = find_kernel(
      {&sm90_ws_kernels, &sm90_ws_fp16_kernels},
      "gated<" + std::string(name(problem.dtype("a"))) + ", " + std::to_string(columns) +
          ", Finish::gated" + (is_by_tma ? ", " : "_any, ") + std::to_string(cluster) + ">");
  const WsLaunch fits = ws_launch(problem, device, columns, columns_of_d, cluster);
  Output fixed;
  fixed.d = view_of(problem, "d");
  fixed.m = problem.axis("m");
  fixed.n = problem.axis("n");
  fixed.epilogue.act = act_of(problem.option("act"));
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (fits.order.count() == 0) return;
    const TensorMap a = operand_map(device, args["a"], 0, true, kBlockM);
    const TensorMap gate = operand_map(device, args["gate"], 1, true, columns_of_d / cluster);
    const TensorMap up = operand_map(device, args["up"], 1, true, columns_of_d / cluster);
    const TensorMap d = is_by_tma ? output_map(device, args["d"]) : a;
    Output out = fixed;
    out.d.data = args["d"].data;
    out.stores_pairs = stores_pairs(out.d);
    launch(*context.stream, kernel, fits.shape, a, gate, up, d, out, fits.order, fits.steps);
  }};
}

}  // namespace

extern const KernelDef sm90_ws;
const KernelDef sm90_ws{
    .op = "gemm_glu",
    .name = "sm90_ws",
    .idea = "gemm's warp-specialised kernel, both sums of an element in one thread",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs =
        [](const Problem& problem, const DeviceProperties&) {
          std::vector<Config> list;
          for (const int columns : {256, 128})
            for (const int cluster : {2, 1})
              list.push_back({{{"block_n", columns}, {"cluster", cluster}}});
          if (problem.axis("m") <= kBlockM)
            std::ranges::stable_sort(list, {},
                                     [](const Config& config) { return config.at("cluster"); });
          return list;
        },
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_ws_kernels, GATED_ENTRIES(bf16, 256), GATED_ENTRIES(bf16, 128))

}  // namespace rooftile::ops::gemm_glu
