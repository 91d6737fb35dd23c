// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel of gemm with tiles of 128 columns of the gate and the same 128 of up:
// a thread holds both sums of an element, so the gate costs no memory. See ops/gemm/sm90_ws.h.
#include "rooftile/ops/gemm/sm90_ws.h"

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#if !ROOFTILE_DEVICE_CODE
#include "rooftile/device/cpu/activation.h"
#include "rooftile/device/gpu_kernel.h"
#endif

namespace rooftile::ops::gemm_glu {

namespace {

using namespace gemm;

constexpr int kColumns = 256;

#if ROOFTILE_DEVICE_CODE

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    gated(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap gate,
          const __grid_constant__ TensorMap up, const __grid_constant__ TensorMap d,
          const __grid_constant__ Output out, tile::GroupedTiles order, int steps,
          int cluster_blocks) {
  ws_body<T, Major::k, Major::k, kColumns, 2>(&a, {&gate, &up}, &d, out, order, steps,
                                              cluster_blocks);
}

#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_ws_kernels;

namespace {

constexpr int kColumnsOfD = kColumns / 2;

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
  const auto cluster = static_cast<int>(config.at("cluster"));
  const GpuKernel kernel =
      find_kernel(sm90_ws_kernels, "gated<" + std::string(name(problem.dtype("a"))) + ">");
  const WsLaunch fits = ws_launch(problem, device, kColumns, kColumnsOfD, cluster);
  Output fixed;
  fixed.d = view_of(problem, "d");
  fixed.m = problem.axis("m");
  fixed.n = problem.axis("n");
  fixed.epilogue.act = act_of(problem.option("act"));
  fixed.by_tma = can_store_d(problem);
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (fits.order.count() == 0) return;
    const TensorMap a = operand_map(device, args["a"], 0, true, kBlockM);
    const TensorMap gate = operand_map(device, args["gate"], 1, true, kColumnsOfD / cluster);
    const TensorMap up = operand_map(device, args["up"], 1, true, kColumnsOfD / cluster);
    Output out = fixed;
    out.d.data = args["d"].data;
    const TensorMap d = out.by_tma ? output_map(device, args["d"]) : a;
    launch(*context.stream, kernel, fits.shape, a, gate, up, d, out, fits.order, fits.steps,
           cluster);
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
          std::vector<Config> list{{{{"cluster", 2}}}, {{{"cluster", 1}}}};
          if (problem.axis("m") <= kBlockM) std::swap(list[0], list[1]);
          return list;
        },
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_ws_kernels, ROOFTILE_KERNEL_ENTRY(gated<bf16>),
                      ROOFTILE_KERNEL_ENTRY(gated<fp16>))

}  // namespace rooftile::ops::gemm_glu
