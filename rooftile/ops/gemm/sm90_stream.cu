// SPDX-License-Identifier: Apache-2.0
// Few rows of A, at most 128: the time is that of reading B, a weight [n, k]. B takes the place of
// the left operand, whose 64 rows an instruction needs; A's rows, padded to 8, 16, …, are the
// columns. The ring holds most of shared memory, so that enough of B is on its way. Blocks of a
// cluster share A, each with its own tile of B; or two split k of one tile and add their parts
// through distributed shared memory: no workspace, and the same bits in every run, since a sum of
// two has no order; and of many rows two blocks have half each and share B. Sources of the ideas:
// the exchange of operands for small batches, NVIDIA CUTLASS ("swap AB"); splitting k inside a
// cluster, NVIDIA "CUDA C++ Programming Guide: distributed shared memory".
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"
#include "rooftile/ops/gemm/sm90_turned.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/ptx/elect.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#else
#include <algorithm>
#include <cmath>
#include <utility>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_stream_kernels;
#endif

namespace {

/// kRows of B and kColumns rows of A at a time.
template <int kRows, int kColumns>
struct Shared {
  static constexpr int kConsumers = kRows / 64;
  static constexpr int kThreads = kWarpgroup * (1 + kConsumers);
  static constexpr int kOutputBytes = kConsumers * TurnedTile<kColumns>::kBytes;
  static constexpr int kMostStages = 16;
  static constexpr int kBarrierBytes = 16 * kMostStages;
  static constexpr int kOther = kOutputBytes + kBarrierBytes + kAlignment;
  static constexpr int kStage = (kRows + kColumns) * kRowBytes;
  static constexpr int kFitting = (227 * 1024 - kOther) / kStage;
  static constexpr int kStages = kFitting < kMostStages ? kFitting : kMostStages;
  static constexpr int kOutput = kStages * kStage;
  static constexpr int kPipeline = kOutput + kOutputBytes;
  static constexpr int kBytes = kOutput + kOther;
  static_assert(kStages >= 3, "too few stages to hide the latency of memory");
  static_assert(kBytes <= 227 * 1024, "more than a block can have");
};

/// How the blocks of a cluster divide the work: `halves` (1 or 2) have different rows of A and
/// share a tile of B; of those with the same rows `share` have a tile of B each and share A, or
/// `split` have each a part of k of one tile. A block's rank: which half, plus `halves` times which
/// of these.
struct Division {
  int split = 1, share = 1, halves = 1;
  [[nodiscard]] ROOFTILE_HD constexpr int blocks() const { return split * share * halves; }
};

/// What a kernel needs of it. Why from the host: a division takes as long as a step.
struct Work {
  int tiles = 0;  // of B
  int steps = 0;  // of k
  int steps_of_part = 0;
  uint32_t spread = 0;  // from one cluster's start along k to the next one's, 2^32 being all of it
  Division division{};
  int rows_of_b = 0, rows_of_a = 0;  // of a tile, that a block loads
  // Bits: the ranks of the blocks that share B's tile in the first group of a cluster, and A's tile
  // in the first half.
  uint32_t blocks_of_b = 0, blocks_of_a = 0;
};

#if ROOFTILE_DEVICE_CODE

template <class T, int kRows, int kColumns>
__global__ void __launch_bounds__((Shared<kRows, kColumns>::kThreads), 1)
    stream(const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap a,
           const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
           const __grid_constant__ Work work) {
  using S = Shared<kRows, kColumns>;
  using Loop = Mainloop<T, Major::k, Major::k, S::kConsumers, kColumns, S::kStages>;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  auto& stages = *reinterpret_cast<typename Loop::Stages*>(shared + S::kPipeline);
  static_assert(sizeof(stages) <= S::kBarrierBytes);
  const Division division = work.division;
  const bool is_split = division.split != 1;
  const bool is_alone = division.blocks() == 1;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < S::kStages)
    stages.init(thread, S::kConsumers * (division.halves + division.share - 1));
  if (thread == kWarpgroup) {
    tensor_map_prefetch(&b);
    tensor_map_prefetch(&a);
    tensor_map_prefetch(&d);
  }
  if (is_alone)
    __syncthreads();
  else
    cluster_meet();
  launch_dependents();

  // A cluster is a row of the grid.
  const int half = static_cast<int>(blockIdx.x) & (division.halves - 1);
  const int group = static_cast<int>(blockIdx.x) >> (division.halves - 1);
  const int share = is_split ? 0 : group;
  const uint32_t blocks_of_b = work.blocks_of_b << (group * division.halves);
  const uint32_t blocks_of_a = work.blocks_of_a << half;
  const int first = is_split ? group * work.steps_of_part : 0;
  const int last =
      work.steps < first + work.steps_of_part ? work.steps : first + work.steps_of_part;
  // Blocks of a cluster have as many tiles; the last may lie outside of B.
  const int first_tile = static_cast<int>(blockIdx.y) * division.share + share;
  const int next = static_cast<int>(gridDim.y) * division.share;
  const int row = half * kColumns;  // of A and D
  typename Loop::Position at;
  if (thread < kWarpgroup) {
    // Measured: without the consumers' larger share the weight streams more slowly.
    setmaxnreg_dec<88>();
    if (thread < 32 && elect_sync()) {
      const Part of_b{half * work.rows_of_b, work.rows_of_b, blocks_of_b};
      const Part of_a{share * work.rows_of_a, work.rows_of_a, blocks_of_a};
      wait_for_grid();
      uint32_t spread = blockIdx.y * work.spread;
      for (int tile = first_tile; tile < work.tiles;
           tile += next, spread += gridDim.y * work.spread) {
        // Each cluster begins elsewhere: all would ask L2 for the same few lines of A at once.
        const auto start = static_cast<int>(
            static_cast<unsigned long long>(spread) * static_cast<uint32_t>(last - first) >> 32);
        Loop::produce(shared, stages, at, &b, {&a}, tile * kRows, row, first, last, first + start,
                      of_b, of_a);
      }
    }
    __syncwarp();
    if (is_split)
      cluster_sync();
    else if (!is_alone)
      cluster_arrive_relaxed();
  } else {
    setmaxnreg_inc<208>();
    const int consumer = thread / kWarpgroup - 1;
    const int in_warpgroup = thread % kWarpgroup;
    using Tile = TurnedTile<kColumns>;
    const TurnedOutput<T, kColumns> output{
        out, &d, shared + S::kOutput + consumer * Tile::kBytes, 1 + consumer, in_warpgroup, row};
    // A stage is filled by the blocks that share B's tile and by those that share A's.
    const tile::Releaser releaser = tile::Releaser::of(
        in_warpgroup, division.halves * division.share == 1 ? 0 : blocks_of_b | blocks_of_a);
    typename Loop::Sum sum;
    wait_for_grid();
    for (int tile = first_tile; tile < work.tiles; tile += next) {
      Loop::template consume<0>(shared, stages, at, sum, last - first, consumer, releaser,
                                [](int) {});
      const long long column = static_cast<long long>(tile) * kRows + consumer * 64;
      if (is_split) {  // one tile: each block stores a part of it
        output.send(sum, group, (1 - group) * division.halves + half);
        cluster_sync();
      } else if (!is_alone && tile + next >= work.tiles) {
        cluster_arrive_relaxed();
      }
      const int end = is_split && group == 0 ? 1 : Tile::kParts;
      ROOFTILE_NO_UNROLL for (int part = is_split ? group : 0; part < end; ++part) {
        float values[Tile::kRegisters];
        output.take(values, sum, part);
        if (is_split) output.add_received(values);
        output.store(values, part, column);
      }
    }
    output.finish_all();
    __syncwarp();
  }
  // A block's shared memory stays until the others have written it.
  if (!is_alone && !is_split) cluster_wait();
}

#else

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
  int rows_of_d;  // that are stored at a time
};

template <int kRows, int kColumns>
constexpr Block kBlock{Shared<kRows, kColumns>::kBytes, Shared<kRows, kColumns>::kThreads,
                       TurnedTile<kColumns>::kOfPart};

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
  if (Support general = supports_tma(problem); !general) return general;
  if (!layouts_of(problem).is_nt())
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  return supported();
}

/// From one cluster's start to the next one's, of `steps`.
std::uint32_t spread_of(int steps) {
  constexpr std::uint64_t kSteps = 7;
  const auto count = static_cast<std::uint64_t>(steps);
  return static_cast<std::uint32_t>(((kSteps << 32) + count - 1) / count);
}

/// Rows of A of a block.
std::int64_t columns_of(std::int64_t m, int halves) { return columns_of(m) / halves; }

/// Each height of the tile with as many blocks as there are tiles, or with clusters that divide the
/// work. First those whose blocks ask L2 for least.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr double kExchange = 1500;  // of parts: as long as it takes to read so many rows
  const std::int64_t steps = tiles_of(problem.axis("k"), kStepK);
  const std::int64_t m = problem.axis("m");
  std::vector<std::pair<double, Config> > list;
  const auto add = [&](std::int64_t rows, Division division) {
    const std::int64_t clusters = tiles_of(problem.axis("n"), rows * division.share);
    const std::int64_t blocks = clusters * division.blocks();
    if (division.split > 1 && (blocks > device.compute_units || steps < division.split)) return;
    const double waves = std::ceil(static_cast<double>(blocks) / device.compute_units);
    const double asked = static_cast<double>(rows) / division.halves +
                         static_cast<double>(columns_of(m, division.halves)) / division.share;
    list.push_back({waves * asked * static_cast<double>(steps) / division.split +
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
  std::ranges::stable_sort(list, {}, [](const auto& entry) { return entry.first; });
  std::vector<Config> sorted;
  for (auto& [asked, config] : list) sorted.push_back(std::move(config));
  return sorted;
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const std::int64_t rows = config.at("rows");
  const Division division{static_cast<int>(config.at("split")),
                          static_cast<int>(config.at("share")),
                          static_cast<int>(config.at("halves"))};
  const std::int64_t columns = columns_of(problem.axis("m"), division.halves);
  const GpuKernel kernel = find_kernel(
      sm90_stream_kernels, "stream<" + std::string(name(problem.dtype("a"))) + ", " +
                               std::to_string(rows) + ", " + std::to_string(columns) + ">");
  const int clusters = tiles_of(problem.axis("n"), rows * division.share);
  const int at_once = std::max(1, device.properties().compute_units / division.blocks());
  const int steps = tiles_of(problem.axis("k"), kStepK);
  Work work{.tiles = problem.axis("m") == 0 ? 0 : clusters * division.share,
            .steps = steps,
            .steps_of_part = tiles_of(steps, division.split),
            .spread = spread_of(tiles_of(steps, division.split)),
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
    const bool is_by_tma = out.finish == Finish::plain || out.finish == Finish::columns;
    const TensorMap d = is_by_tma ? output_map(device, args["d"], block.rows_of_d) : a;
    launch(*context.stream, kernel, shape, b, a, d, out, work);
  }};
}
#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
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

#define STREAM_ENTRY(...) ROOFTILE_KERNEL_ENTRY(stream<__VA_ARGS__>)
#define STREAM_ENTRIES(type)                                                                 \
  STREAM_ENTRY(type, 64, 8), STREAM_ENTRY(type, 64, 16), STREAM_ENTRY(type, 64, 32),         \
      STREAM_ENTRY(type, 64, 64), STREAM_ENTRY(type, 64, 128), STREAM_ENTRY(type, 128, 8),   \
      STREAM_ENTRY(type, 128, 16), STREAM_ENTRY(type, 128, 32), STREAM_ENTRY(type, 128, 64), \
      STREAM_ENTRY(type, 128, 128)
ROOFTILE_KERNEL_TABLE(sm90_stream_kernels, STREAM_ENTRIES(bf16), STREAM_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
