// SPDX-License-Identifier: Apache-2.0
// Few rows of A, at most 128: the time is that of reading B, a weight [n, k]. B takes the place of
// the left operand, whose 64 rows an instruction needs; A's rows, padded to 8, 16, …, are the
// columns. The ring holds most of shared memory, so that enough of B is on its way. k is split over
// the blocks of a cluster, which add their parts through distributed shared memory in the order of
// their ranks: no workspace, and the same bits in every run. Sources of the ideas: the exchange of
// operands for small batches, NVIDIA CUTLASS ("swap AB"); splitting k inside a cluster, NVIDIA
// "CUDA C++ Programming Guide: distributed shared memory".
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_epilogue.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/named_barrier.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#else
#include <algorithm>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_stream_kernels;
#endif

namespace {

constexpr int kConsumers = 2;
constexpr int kConsumerThreads = kConsumers * kWarpgroup;
constexpr int kThreads = kWarpgroup + kConsumerThreads;
constexpr int kBarrier = 1;  // of all consumers

/// kRows of B and kColumns rows of A at a time.
template <int kRows, int kColumns>
struct Shared {
  /// Of A's rows whose parts are added at once, and the distance of two of them: 4 more than rows,
  /// so that the accumulators of a warp fall into different banks.
  static constexpr int kPartColumns = kColumns < 32 ? kColumns : 32;
  static constexpr int kPartStride = kRows + 4;
  static constexpr int kPartBytes = kPartColumns * kPartStride * 4;
  static constexpr int kOther = kPartBytes + 512 + kAlignment;  // 512: barriers
  static constexpr int kStage = (kRows + kColumns) * kRowBytes;
  static constexpr int kFitting = (227 * 1024 - kOther) / kStage;
  static constexpr int kStages = kFitting < 12 ? kFitting : 12;
  static constexpr int kPart = kStages * kStage;
  static constexpr int kPipeline = (kPart + kPartBytes + 7) / 8 * 8;
  static constexpr int kBytes = kPart + kOther;
  static_assert(kStages >= 3, "too few stages to hide the latency of memory");
  static_assert(kBytes <= 227 * 1024, "more than a block can have");
};

#if ROOFTILE_DEVICE_CODE

/// The partial sums of one block, and when the cluster may read and overwrite them.
struct Parts {
  float* own;
  tile::Pipeline<1>* turns;  // full: all parts are there; empty: all have been read
  uint32_t parity = 0;
};

template <int kRows, int kColumns>
__device__ __forceinline__ void write_part(float* part, const float* sum, int thread, int row) {
  using S = Shared<kRows, kColumns>;
  ROOFTILE_UNROLL for (int i = 0; i < S::kPartColumns / 2; ++i) {
    const FragmentElement at = wgmma_accumulator(thread, i);
    part[at.column * S::kPartStride + row + at.row] = sum[i];
  }
}

/// Adds the blocks' parts of A's rows `first_m` on and stores this block's share of the sums.
template <int kRows, int kColumns>
__device__ __forceinline__ void add_parts(const Output& out, const Parts& parts, Cluster cluster,
                                          int first_m, int first_n) {
  using S = Shared<kRows, kColumns>;
  constexpr int kPairs = kRows / 2;
  const long long left = out.m - first_m;
  const int columns = left < S::kPartColumns ? static_cast<int>(left) : S::kPartColumns;
  const int thread = static_cast<int>(threadIdx.x) - kWarpgroup;
  for (int pair = thread + cluster.rank * kConsumerThreads; pair < columns * kPairs;
       pair += cluster.blocks * kConsumerThreads) {
    const int column = pair / kPairs;
    const int row = pair % kPairs * 2;
    if (first_n + row >= out.n) continue;
    const int at = column * S::kPartStride + row;
    float2 sum = make_float2(0, 0);
    for (int rank = 0; rank < cluster.blocks; ++rank) {
      const float* const part =
          cluster.blocks == 1 ? parts.own : map_shared(parts.own, static_cast<uint32_t>(rank));
      const float2 two = *reinterpret_cast<const float2*>(part + at);
      sum = make_float2(sum.x + two.x, sum.y + two.y);
    }
    finish_and_store_two(out.d, out.epilogue, first_m + column, first_n + row, out.n,
                         out.stores_pairs, sum);
  }
}

/// All threads of all consumers have come: one of them tells every block of the cluster.
__device__ __forceinline__ void tell(Mbarrier* barrier, Cluster cluster) {
  named_barrier_sync(kBarrier, kConsumerThreads);
  const int thread = static_cast<int>(threadIdx.x) - kWarpgroup;
  if (thread < cluster.blocks)
    mbarrier_arrive_cluster(map_shared(barrier, static_cast<uint32_t>(thread)));
}

template <int kRows, int kColumns, int kRegisters>
__device__ __forceinline__ void reduce_and_store(
    const Output& out, Parts& parts, const float (&sum)[kRows / kConsumers / 64][kRegisters],
    Cluster cluster, int first_n) {
  using S = Shared<kRows, kColumns>;
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  ROOFTILE_UNROLL for (int chunk = 0; chunk < kColumns / S::kPartColumns; ++chunk) {
    if (chunk * S::kPartColumns < out.m) {
      mbarrier_wait_cluster(&parts.turns->empty[0], parts.parity ^ 1);
      ROOFTILE_UNROLL for (int t = 0; t < kRows / kConsumers / 64; ++t)
          write_part<kRows, kColumns>(parts.own, &sum[t][chunk * S::kPartColumns / 2], thread,
                                      consumer * (kRows / kConsumers) + 64 * t);
      tell(&parts.turns->full[0], cluster);
      mbarrier_wait_cluster(&parts.turns->full[0], parts.parity);
      add_parts<kRows, kColumns>(out, parts, cluster, chunk * S::kPartColumns, first_n);
      tell(&parts.turns->empty[0], cluster);
      parts.parity ^= 1;
    }
  }
}

template <class T, int kRows, int kColumns>
__global__ void __launch_bounds__(kThreads, 1)
    stream(const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap a,
           const __grid_constant__ Output out, int tiles, int steps, int split) {
  using S = Shared<kRows, kColumns>;
  using Loop =
      Mainloop<T, Major::k, Major::k, kConsumers, kRows / kConsumers / 64, kColumns, S::kStages>;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  auto& stages = *reinterpret_cast<typename Loop::Stages*>(shared + S::kPipeline);
  auto* const turns = reinterpret_cast<tile::Pipeline<1>*>(&stages + 1);
  static_assert(sizeof(stages) + sizeof(*turns) <= 504, "more than is kept for barriers");
  const Cluster cluster{static_cast<int>(cluster_rank()), split};
  if (threadIdx.x == 0) {
    stages.init(kConsumers);
    mbarrier_init(&turns->full[0], static_cast<uint32_t>(split));
    mbarrier_init(&turns->empty[0], static_cast<uint32_t>(split));
    fence_mbarrier_init();
    tensor_map_prefetch(&a);
    tensor_map_prefetch(&b);
  }
  cluster_sync();

  const int first = steps * cluster.rank / split;
  const int last = steps * (cluster.rank + 1) / split;
  const int clusters = static_cast<int>(gridDim.x) / split;
  typename Loop::Position at;
  if (threadIdx.x < kWarpgroup) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      wait_for_grid();
      for (int tile = static_cast<int>(blockIdx.x) / split; tile < tiles; tile += clusters)
        Loop::produce(shared, stages, at, &b, {&a}, tile * kRows, 0, first, last, Cluster{});
    }
  } else {
    setmaxnreg_inc<232>();
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
    Parts parts{reinterpret_cast<float*>(shared + S::kPart), turns};
    typename Loop::Sum sum;
    wait_for_grid();
    for (int tile = static_cast<int>(blockIdx.x) / split; tile < tiles; tile += clusters) {
      Loop::consume(shared, stages, at, sum, last - first, consumer, 1);
      reduce_and_store<kRows, kColumns>(out, parts, sum, cluster, tile * kRows);
    }
  }
  __syncwarp();
  cluster_sync();  // a block's parts stay until all have read them
}

#else

constexpr std::int64_t kMostRows = 128;  // of A
constexpr std::int64_t kLeastSteps = 4;  // of a block
constexpr std::int64_t kLeastColumnsOf256 = 64;

std::int64_t columns_of(std::int64_t m) {
  std::int64_t columns = 8;
  while (columns < m) columns *= 2;
  return columns;
}

std::int64_t shared_bytes(std::int64_t rows, std::int64_t columns) {
  switch (columns) {
    case 8:
      return Shared<128, 8>::kBytes;
    case 16:
      return Shared<128, 16>::kBytes;
    case 32:
      return Shared<128, 32>::kBytes;
    case 64:
      return rows == 256 ? Shared<256, 64>::kBytes : Shared<128, 64>::kBytes;
    default:
      return rows == 256 ? Shared<256, 128>::kBytes : Shared<128, 128>::kBytes;
  }
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostRows)
    return unsupported("m is at most " + std::to_string(kMostRows));
  if (Support general = supports_tma(problem); !general) return general;
  if (!layouts_of(problem).is_nt())
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  return supported();
}

/// Of each height of the tile as many splits as give every compute unit a block. The higher tile
/// reads A half as often, which matters where A has many rows.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  const std::int64_t steps = tiles_of(problem.axis("k"), kStepK);
  std::vector<Config> list;
  for (const std::int64_t rows : {256, 128}) {
    if (rows == 256 && columns_of(problem.axis("m")) < kLeastColumnsOf256) continue;
    const std::int64_t tiles = tiles_of(problem.axis("n"), rows);
    std::int64_t best = 1;
    while (best < 8 && tiles * best * 2 <= device.compute_units &&
           steps / (best * 2) >= kLeastSteps)
      best *= 2;
    for (const std::int64_t split : {best, best * 2, best / 2})
      if (split >= 1 && split <= 8 && split <= steps)
        list.push_back({{{"rows", rows}, {"split", split}}});
  }
  return list;
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const std::int64_t rows = config.at("rows");
  const auto split = static_cast<int>(config.at("split"));
  const std::int64_t columns = columns_of(problem.axis("m"));
  const GpuKernel kernel = find_kernel(
      sm90_stream_kernels, "stream<" + std::string(name(problem.dtype("a"))) + ", " +
                               std::to_string(rows) + ", " + std::to_string(columns) + ">");
  const int tiles = problem.axis("m") == 0 ? 0 : tiles_of(problem.axis("n"), rows);
  const int steps = tiles_of(problem.axis("k"), kStepK);
  const int clusters = std::min(tiles, std::max(1, device.properties().compute_units / split));
  const LaunchShape shape{.grid = {static_cast<std::uint32_t>(clusters * split)},
                          .block = {kThreads},
                          .dynamic_shared_bytes = shared_bytes(rows, columns),
                          .cluster = {static_cast<std::uint32_t>(split)},
                          .programmatic_overlap = true};
  const Output fixed = output_of(problem);
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (tiles == 0) return;
    const Output out = with_arguments(fixed, args);
    const TensorMap b = operand_map(device, args["b"], 1, true, static_cast<int>(rows));
    const TensorMap a = operand_map(device, args["a"], 0, true, static_cast<int>(columns));
    launch(*context.stream, kernel, shape, b, a, out, tiles, steps, split);
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
#define STREAM_ENTRIES(type)                                                                  \
  STREAM_ENTRY(type, 128, 8), STREAM_ENTRY(type, 128, 16), STREAM_ENTRY(type, 128, 32),       \
      STREAM_ENTRY(type, 128, 64), STREAM_ENTRY(type, 128, 128), STREAM_ENTRY(type, 256, 64), \
      STREAM_ENTRY(type, 256, 128)
ROOFTILE_KERNEL_TABLE(sm90_stream_kernels, STREAM_ENTRIES(bf16), STREAM_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
