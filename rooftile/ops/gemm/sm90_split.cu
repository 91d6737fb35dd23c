// SPDX-License-Identifier: Apache-2.0
// The definition of gemm/sm90_split, its launcher, the kernel that adds the parts, and the
// instances for bf16. See sm90_split.h.
#include "rooftile/ops/gemm/sm90_split.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/fragment.h"
#else
#include <algorithm>
#include <utility>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

/// Some quads of accumulators of a consumer's half of a tile: of all parts the sum, and D. A block
/// of the grid: (which quads, which consumer's, counted as ws_parts stores them). `cluster`: blocks
/// of one there, neighbours along m.
__global__ void __launch_bounds__(kBarrierThreads)
    sum_parts(const float4* sums, const __grid_constant__ Output out, tile::GroupedTiles order,
              int parts, int cluster) {
  launch_dependents();
  wait_for_grid();
  const auto thread = static_cast<int>(threadIdx.x);
  const auto index = static_cast<int>(blockIdx.y);
  const int consumer = index % kConsumers;
  const int block = index / kConsumers;
  const tile::GroupedTiles::Tile tile = order.at(block / cluster);
  const long long row =
      static_cast<long long>(tile.row * cluster + block % cluster) * kBlockM + consumer * 64;
  const long long column = static_cast<long long>(tile.column) * kSplitColumns;
  const long long of_part = static_cast<long long>(gridDim.y) * kQuadsOfTile * kBarrierThreads;
  const auto first = static_cast<int>(blockIdx.x) * kQuadsOfBlock;
  const float4* from =
      sums + (static_cast<long long>(index) * kQuadsOfTile + first) * kBarrierThreads + thread;
  float4 total[kQuadsOfBlock] = {};
  for (int part = 0; part < parts; ++part, from += of_part)
    ROOFTILE_UNROLL for (int q = 0; q < kQuadsOfBlock; ++q) {
      const float4 more = from[q * kBarrierThreads];
      total[q].x += more.x;
      total[q].y += more.y;
      total[q].z += more.z;
      total[q].w += more.w;
    }
  ROOFTILE_UNROLL for (int q = 0; q < kQuadsOfBlock; ++q) {
    const FragmentElement at = wgmma_accumulator(thread, 4 * (first + q));
    const long long j = column + at.column;
    if (j >= out.n) continue;
    const long long i = row + at.row;
    if (i < out.m)
      finish_and_store_two(out.d, out.epilogue, i, j, out.n, out.stores_pairs,
                           make_float2(total[q].x, total[q].y));
    if (i + 8 < out.m)
      finish_and_store_two(out.d, out.epilogue, i + 8, j, out.n, out.stores_pairs,
                           make_float2(total[q].z, total[q].w));
  }
}

}  // namespace
#else
extern const KernelTable sm90_split_kernels;
extern const KernelTable sm90_split_fp16_kernels;

namespace {

constexpr int kLeastStepsOfPart = 4;

int clusters_at_once(const DeviceProperties& device, int cluster) {
  return std::max(1, device.compute_units / cluster);
}

std::int64_t clusters_of(const Problem& problem, int cluster) {
  return std::int64_t{tiles_of(problem.axis("m"), kBlockM * cluster)} *
         tiles_of(problem.axis("n"), kSplitColumns);
}

/// As ws_estimate(), of a part's steps, the second kernel, and the sums' way through L2. Measured.
double estimate(const Problem& problem, int cluster, int parts) {
  constexpr double kFixed = 17;
  constexpr double kTilesOfStep = 6;  // whose sums L2 writes and reads in the time of a step
  const int steps = tiles_of(tiles_of(problem.axis("k"), kStepK), parts);
  const auto tiles = static_cast<double>(clusters_of(problem, cluster) * cluster * parts);
  return steps + kFixed + tiles / kTilesOfStep;
}

/// In one wave, and such that no part is empty; what is estimated to gain less than a little over
/// sm90_ws is left to that.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr double kLeastGain = 1.05;
  const int steps = tiles_of(problem.axis("k"), kStepK);
  const double most = ws_estimate(problem, device) / kLeastGain;
  std::vector<std::pair<double, Config> > list;
  for (const int cluster : {2, 1})
    for (const int parts : {2, 3, 4, 6, 8, 12, 16})
      if (clusters_of(problem, cluster) * parts <= clusters_at_once(device, cluster) &&
          parts * kLeastStepsOfPart <= steps && tiles_of(steps, tiles_of(steps, parts)) == parts)
        list.push_back(
            {estimate(problem, cluster, parts), {{{"parts", parts}, {"cluster", cluster}}}});
  std::erase_if(list, [&](const auto& entry) { return entry.first > most; });
  return fastest_first(std::move(list));
}

Support supports(const Problem& problem, const DeviceProperties& device) {
  if (Support general = supports_tma_along_k(problem); !general) return general;
  if (problem.axis("m") <= kBlockM) return unsupported("m is more than " + std::to_string(kBlockM));
  if (configs(problem, device).empty())
    return unsupported("D has so many tiles, or k is so short, that to split k does not pay");
  return supported();
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const auto cluster = static_cast<int>(config.at("cluster"));
  const auto parts = static_cast<int>(config.at("parts"));
  const GpuKernel multiply = find_kernel(
      {&sm90_split_kernels, &sm90_split_fp16_kernels},
      "ws_parts<" + std::string(name(problem.dtype("a"))) + ", " + std::to_string(cluster) + ">");
  const GpuKernel add = find_kernel({&sm90_split_kernels}, "sum_parts");
  WsLaunch fits = ws_launch(problem, device, kSplitColumns, kSplitColumns, cluster);
  const int clusters = fits.order.count() * parts;
  fits.shape.grid = {static_cast<std::uint32_t>(clusters * cluster)};
  const Parts of_k{parts, tiles_of(fits.steps, parts),
                   tile::Divisor(std::max(1, fits.order.count()))};
  const LaunchShape add_shape{
      .grid = {kQuadsOfTile / kQuadsOfBlock,
               static_cast<std::uint32_t>(fits.order.count() * cluster * kConsumers)},
      .block = {kBarrierThreads},
      .programmatic_overlap = true};
  const Output fixed = output_of(problem);
  return {
      .run =
          [=, &device](const Context& context, const Arguments& args) {
            if (fits.order.count() == 0) return;
            const TensorMap a = operand_map(device, args["a"], 0, true, kBlockM);
            const TensorMap b = operand_map(device, args["b"], 1, true, kSplitColumns / cluster);
            Output sums;
            sums.d.data = context.workspace;
            launch(*context.stream, multiply, fits.shape, a, b, sums, fits.order, fits.steps, of_k);
            launch(*context.stream, add, add_shape, static_cast<const float4*>(context.workspace),
                   with_arguments(fixed, args), fits.order, parts, cluster);
          },
      .workspace_bytes = kBytesOfTile * clusters * cluster};
}

}  // namespace

extern const KernelDef sm90_split;
const KernelDef sm90_split{
    .op = "gemm",
    .name = "sm90_split",
    .idea = "few tiles and a long k: parts of k by the warp-specialised kernel, added by a second",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = configs,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_split_kernels, SPLIT_ENTRIES(bf16), ROOFTILE_KERNEL_ENTRY(sum_parts))

}  // namespace rooftile::ops::gemm
