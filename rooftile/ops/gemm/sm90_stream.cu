// SPDX-License-Identifier: Apache-2.0
// The definition of gemm/sm90_stream, its launcher, and its instances for bf16. See sm90_stream.h.
#include "rooftile/ops/gemm/sm90_stream.h"
#if !ROOFTILE_DEVICE_CODE
#include <algorithm>
#include <cmath>
#include <utility>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_stream_kernels;
extern const KernelTable sm90_stream_fp16_kernels;

namespace {

constexpr std::int64_t kMostRows = 128;  // of A
// A's rows are read once for each tile, unless blocks share them. A block's share is a multiple of
// 8 rows, a period of the swizzle.
constexpr std::int64_t kLeastColumnsShared = 16;
constexpr std::int64_t kMostColumnsAlone = 32;

std::int64_t columns_of(std::int64_t m) {
  std::int64_t columns = 8;
  while (columns < m) columns *= 2;
  return columns;
}

struct Block {
  std::int64_t shared_bytes;
  std::uint32_t threads;
};

/// Of k in a stage.
std::int64_t stage_k(std::int64_t columns) {
  return kStepK * steps_of_stage(static_cast<int>(columns));
}

template <int kRows, int kColumns>
constexpr Block kBlock{StreamShared<kRows, kColumns>::kBytes,
                       StreamShared<kRows, kColumns>::kThreads};

template <int kRows>
Block block_of(std::int64_t columns) {
  switch (columns) {
    case 8:
      return kBlock<kRows, 8>;
    case 16:
      return kBlock<kRows, 16>;
    case 32:
      return kBlock<kRows, 32>;
    case 64:
      return kBlock<kRows, 64>;
    default:
      return kBlock<kRows, 128>;
  }
}

Block block_of(std::int64_t rows, std::int64_t columns) {
  return rows == 64 ? block_of<64>(columns) : block_of<128>(columns);
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostRows)
    return unsupported("m is at most " + std::to_string(kMostRows));
  return supports_tma_along_k(problem);
}

/// From one cluster's start to the next one's, of `stages`.
std::uint32_t spread_of(int stages) {
  constexpr std::uint64_t kApart = 7;
  const auto count = static_cast<std::uint64_t>(stages);
  return static_cast<std::uint32_t>(((kApart << 32) + count - 1) / count);
}

/// Rows of A of a block.
std::int64_t columns_of(std::int64_t m, int halves) { return columns_of(m) / halves; }

/// Each height of the tile with as many blocks as there are tiles, or with clusters that divide the
/// work. First those whose blocks ask L2 for least.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr double kExchange = 1500;  // of parts: as long as it takes to read so many rows
  const std::int64_t m = problem.axis("m");
  std::vector<std::pair<double, Config> > list;
  const auto add = [&](std::int64_t rows, Division division) {
    const std::int64_t stages =
        tiles_of(problem.axis("k"), stage_k(columns_of(m, division.halves)));
    const std::int64_t clusters = tiles_of(problem.axis("n"), rows * division.share);
    const std::int64_t blocks = clusters * division.blocks();
    if (division.split > 1 && (blocks > device.compute_units || stages < division.split)) return;
    const double waves = std::ceil(static_cast<double>(blocks) / device.compute_units);
    const double asked = static_cast<double>(rows) / division.halves +
                         static_cast<double>(columns_of(m, division.halves)) / division.share;
    list.push_back(
        {waves * asked * static_cast<double>(problem.axis("k")) / kStepK / division.split +
             (division.split > 1 ? kExchange : 0),
         {{{"rows", rows},
           {"split", division.split},
           {"share", division.share},
           {"halves", division.halves}}}});
  };
  for (const std::int64_t rows : {64, 128}) {
    if (columns_of(m) >= kLeastColumnsShared) add(rows, {.share = 2});
    add(rows, {.split = 2});
    if (columns_of(m) <= kMostColumnsAlone) add(rows, {});
    if (columns_of(m) == kMostRows) {
      add(rows, {.halves = 2});
      add(rows, {.split = 2, .halves = 2});
      add(rows, {.share = 2, .halves = 2});
      add(rows, {.share = 4, .halves = 2});
    }
  }
  return fastest_first(std::move(list));
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const std::int64_t rows = config.at("rows");
  const Division division{static_cast<int>(config.at("split")),
                          static_cast<int>(config.at("share")),
                          static_cast<int>(config.at("halves"))};
  const std::int64_t columns = columns_of(problem.axis("m"), division.halves);
  const GpuKernel kernel =
      find_kernel({&sm90_stream_kernels, &sm90_stream_fp16_kernels},
                  "stream<" + std::string(name(problem.dtype("a"))) + ", " + std::to_string(rows) +
                      ", " + std::to_string(columns) + ">");
  const int clusters = tiles_of(problem.axis("n"), rows * division.share);
  const int at_once = std::max(1, device.properties().compute_units / division.blocks());
  const int stages = tiles_of(problem.axis("k"), stage_k(columns));
  Work work{.tiles = problem.axis("m") == 0 ? 0 : clusters * division.share,
            .stages = stages,
            .stages_of_part = tiles_of(stages, division.split),
            .spread = spread_of(tiles_of(stages, division.split)),
            .division = division,
            .rows_of_b = static_cast<int>(rows) / division.halves,
            .rows_of_a = static_cast<int>(columns) / division.share};
  if (division.halves > 1) work.blocks_of_b = (1U << division.halves) - 1;
  if (division.share > 1)
    for (int i = 0; i < division.share; ++i) work.blocks_of_a |= 1U << i * division.halves;
  const Block block = block_of(rows, columns);
  const auto in_cluster = static_cast<std::uint32_t>(division.blocks());
  const LaunchShape shape{
      .grid = {in_cluster, static_cast<std::uint32_t>(
                               division.split == 1 ? std::min(clusters, at_once) : clusters)},
      .block = {block.threads},
      .dynamic_shared_bytes = block.shared_bytes,
      .cluster = {in_cluster},
      .programmatic_overlap = true};
  const Output fixed = output_of(problem);
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (work.tiles == 0) return;
    const Output out = with_arguments(fixed, args);
    const TensorMap b = operand_map(device, args["b"], 1, true, work.rows_of_b);
    const TensorMap a = operand_map(device, args["a"], 0, true, work.rows_of_a);
    launch(*context.stream, kernel, shape, b, a, out, work);
  }};
}

}  // namespace

extern const KernelDef sm90_stream;
const KernelDef sm90_stream{
    .op = "gemm",
    .name = "sm90_stream",
    .idea =
        "few rows of A: B streams through a deep TMA ring as wgmma's left operand, k split over "
        "a cluster (CUTLASS: swap AB)",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = configs,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_stream_kernels, STREAM_ENTRIES(bf16))

}  // namespace rooftile::ops::gemm
