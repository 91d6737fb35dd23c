// SPDX-License-Identifier: Apache-2.0
// Few rows of A, at most 128: the time is that of reading B, a weight [n, k]. B takes the place of
// the left operand, whose 64 rows an instruction needs; A's rows, padded to 8, 16, …, are the
// columns. The ring holds most of shared memory, so that enough of B is on its way; B is the first
// that L2 lets go. The two blocks of a cluster either share A, each with its own tile of B, or they
// split k of one tile and add their parts through distributed shared memory: no workspace, and the
// same bits in every run, since a sum of two has no order. Sources of the ideas: the exchange of
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

constexpr int kStorers = 96;  // threads, from 32 on: all of the producer's warps but its own
// Barriers of a block: a tile's sums are in memory; they have been read.
constexpr int kSumsReady = 1;
constexpr int kSumsRead = 2;
constexpr int kAtOnce = 4;  // rows of D of a thread

/// kRows of B and kColumns rows of A at a time.
template <int kRows, int kColumns>
struct Shared {
  static constexpr int kConsumers = kRows / 64;
  static constexpr int kConsumerThreads = kConsumers * kWarpgroup;
  static constexpr int kThreads = kWarpgroup + kConsumerThreads;
  /// The sums of a tile, turned: 4 more than rows from one of A's rows to the next, so that the
  /// accumulators of a warp fall into different banks.
  static constexpr int kSumStride = kRows + 4;
  static constexpr int kSumBytes = kColumns * kSumStride * 4;
  static constexpr int kOther = kSumBytes + 256 + kAlignment;  // 256: barriers
  static constexpr int kStage = (kRows + kColumns) * kRowBytes;
  static constexpr int kFitting = (227 * 1024 - kOther) / kStage;
  static constexpr int kStages = kFitting < 12 ? kFitting : 12;
  static constexpr int kSums = kStages * kStage;
  static constexpr int kPipeline = (kSums + kSumBytes + 7) / 8 * 8;
  static constexpr int kBytes = kSums + kOther;
  static_assert(kStages >= 3, "too few stages to hide the latency of memory");
  static_assert(kBytes <= 227 * 1024, "more than a block can have");
};

#if ROOFTILE_DEVICE_CODE

/// This consumer thread's sums.
template <int kRows, int kColumns, int kRegisters>
__device__ __forceinline__ void write_sums(float* sums, const float (&sum)[kRegisters]) {
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  ROOFTILE_UNROLL for (int i = 0; i < kColumns / 2; ++i) {
    const FragmentElement at = wgmma_accumulator(thread, i);
    sums[at.column * Shared<kRows, kColumns>::kSumStride + consumer * 64 + at.row] = sum[i];
  }
}

/// Rows [first, last) of D, which A's are: of each the kRows columns from `first_n` on. `other`:
/// the sums of the block that has the other half of k, or null. kThreads of them take part, in
/// warps.
template <int kRows, int kColumns, int kThreads>
__device__ __forceinline__ void store_sums(const Output& out, const float* own, const float* other,
                                           int thread, int first, int last, long long first_n) {
  constexpr int kWarps = kThreads / 32;
  if (out.m < last) last = static_cast<int>(out.m);
  ROOFTILE_NO_UNROLL for (int pair = thread % 32; pair < kRows / 2; pair += 32) {
    if (first_n + 2 * pair >= out.n) continue;
    const ColumnPair columns(out, first_n + 2 * pair);
    ROOFTILE_NO_UNROLL for (int row = first + thread / 32; row < last; row += kAtOnce * kWarps) {
      float values[2 * kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
        // Rows that D lacks are in the memory as far as the tile goes, and are stored nowhere.
        const int r = row + i * kWarps < kColumns ? row + i * kWarps : row;
        const int at = r * Shared<kRows, kColumns>::kSumStride + 2 * pair;
        const float2 mine = *reinterpret_cast<const float2*>(own + at);
        values[2 * i] = mine.x;
        values[2 * i + 1] = mine.y;
        if (other == nullptr) continue;
        const float2 theirs = *reinterpret_cast<const float2*>(other + at);
        values[2 * i] += theirs.x;
        values[2 * i + 1] += theirs.y;
      }
      columns.finish_and_store<kAtOnce>(out, row, kWarps, last, values);
    }
  }
}

template <class T, int kRows, int kColumns>
__global__ void __launch_bounds__((Shared<kRows, kColumns>::kThreads), 1)
    stream(const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap a,
           const __grid_constant__ Output out, int tiles, int steps, int split, int share) {
  using S = Shared<kRows, kColumns>;
  using Loop = Mainloop<T, Major::k, Major::k, S::kConsumers, kColumns, S::kStages>;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  auto& stages = *reinterpret_cast<typename Loop::Stages*>(shared + S::kPipeline);
  static_assert(sizeof(stages) <= 248, "more than is kept for barriers");
  auto* const sums = reinterpret_cast<float*>(shared + S::kSums);
  const int rank = split * share == 1 ? 0 : static_cast<int>(cluster_rank());
  const int part = split == 1 ? 0 : rank;
  const Cluster shares_a{share == 1 ? 0 : rank, share};
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    tensor_map_prefetch(&b);
    tensor_map_prefetch(&a);
    stages.init(S::kConsumers * share);
  }
  if (share == 1)
    __syncthreads();
  else
    cluster_sync();

  const int first = steps * part / split;
  const int last = steps * (part + 1) / split;
  // Blocks of a cluster have as many tiles; the last may lie outside of B.
  const int first_tile = static_cast<int>(blockIdx.x) / (split * share) * share + shares_a.rank;
  const int next = static_cast<int>(gridDim.x) / split;
  constexpr int kMeeting = kStorers + S::kConsumerThreads;
  // Behind the block's last tile nothing streams in: all store it.
  const auto store_last = [&](int tile) {
    store_sums<kRows, kColumns, kMeeting>(out, sums, nullptr, thread - 32, 0, kColumns,
                                          static_cast<long long>(tile) * kRows);
  };
  typename Loop::Position at;
  if (thread < kWarpgroup) {
    setmaxnreg_dec<88>();
    if (thread == 0) {
      wait_for_grid();
      for (int tile = first_tile; tile < tiles; tile += next) {
        // Each block begins elsewhere, those that share A alike: all would ask L2 for the same few
        // lines of A at once.
        constexpr int kSpread = 7;  // steps
        const int start = first + tile / share * kSpread % (last - first);
        Loop::produce(shared, stages, at, &b, {&a}, tile * kRows, 0, first, last, start, shares_a,
                      CacheHint::evict_first);
      }
    } else if (thread >= kWarpgroup - kStorers && split == 1) {
      wait_for_grid();
      for (int tile = first_tile; tile < tiles; tile += next) {
        named_barrier_sync(kSumsReady, kMeeting);
        if (tile + next >= tiles) {
          store_last(tile);
        } else {
          store_sums<kRows, kColumns, kStorers>(out, sums, nullptr, thread - 32, 0, kColumns,
                                                static_cast<long long>(tile) * kRows);
          named_barrier_arrive(kSumsRead, kMeeting);
        }
      }
    }
  } else {
    setmaxnreg_inc<208>();
    const int consumer = thread / kWarpgroup - 1;
    typename Loop::Sum sum;
    wait_for_grid();
    for (int tile = first_tile; tile < tiles; tile += next) {
      Loop::template consume<0>(shared, stages, at, sum, last - first, consumer, share, [](int) {});
      if (tile != first_tile) named_barrier_sync(kSumsRead, kMeeting);
      write_sums<kRows, kColumns>(sums, sum);
      if (split == 1 && tile + next < tiles) named_barrier_arrive(kSumsReady, kMeeting);
      if (split == 1 && tile + next >= tiles) {
        named_barrier_sync(kSumsReady, kMeeting);
        store_last(tile);
      }
    }
  }
  if (split != 1) {  // one tile: each block stores half of D's rows
    __syncwarp();
    cluster_sync();
    if (thread >= kWarpgroup)
      store_sums<kRows, kColumns, S::kConsumerThreads>(
          out, sums, map_shared(sums, static_cast<uint32_t>(1 - part)), thread - kWarpgroup,
          part * (kColumns / 2), (part + 1) * (kColumns / 2),
          static_cast<long long>(first_tile) * kRows);
  }
  // A block's shared memory stays until the other has read and written it.
  __syncwarp();
  if (split * share != 1) cluster_meet();
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
};

template <int kRows>
Block block_of(std::int64_t columns) {
  const auto of = [](auto shared) {
    return Block{decltype(shared)::kBytes, decltype(shared)::kThreads};
  };
  switch (columns) {
    case 8:
      return of(Shared<kRows, 8>{});
    case 16:
      return of(Shared<kRows, 16>{});
    case 32:
      return of(Shared<kRows, 32>{});
    case 64:
      return of(Shared<kRows, 64>{});
    default:
      return of(Shared<kRows, 128>{});
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

/// Each height of the tile with as many blocks as there are tiles, or pairs of blocks that share A,
/// or pairs that split k. First those whose blocks read least.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr std::int64_t kPair = 2;   // larger clusters leave compute units unused
  constexpr double kExchange = 1500;  // of parts: as long as it takes to read so many rows
  const std::int64_t steps = tiles_of(problem.axis("k"), kStepK);
  const std::int64_t columns = columns_of(problem.axis("m"));
  std::vector<std::pair<double, Config> > list;
  const auto add = [&](std::int64_t rows, std::int64_t split, std::int64_t share) {
    const std::int64_t blocks =
        (tiles_of(problem.axis("n"), rows) + share - 1) / share * share * split;
    if (split > 1 && (blocks > device.compute_units || steps < split)) return;
    const double waves = std::ceil(static_cast<double>(blocks) / device.compute_units);
    const double read = waves * static_cast<double>((rows + columns) * steps / split);
    list.push_back({read + (split > 1 ? kExchange : 0),
                    {{{"rows", rows}, {"split", split}, {"share", share}}}});
  };
  for (const std::int64_t rows : {64, 128}) {
    if (columns >= kLeastColumnsShared) add(rows, 1, kPair);
    add(rows, kPair, 1);
    if (columns <= kMostColumnsAlone) add(rows, 1, 1);
  }
  std::ranges::stable_sort(list, {}, [](const auto& entry) { return entry.first; });
  std::vector<Config> sorted;
  for (auto& [read, config] : list) sorted.push_back(std::move(config));
  return sorted;
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const std::int64_t rows = config.at("rows");
  const auto split = static_cast<int>(config.at("split"));
  const auto share = static_cast<int>(config.at("share"));
  const std::int64_t columns = columns_of(problem.axis("m"));
  const GpuKernel kernel = find_kernel(
      sm90_stream_kernels, "stream<" + std::string(name(problem.dtype("a"))) + ", " +
                               std::to_string(rows) + ", " + std::to_string(columns) + ">");
  const int clusters = problem.axis("m") == 0 ? 0 : tiles_of(problem.axis("n"), rows * share);
  const int tiles = clusters * share;
  const int steps = tiles_of(problem.axis("k"), kStepK);
  const int blocks = split == 1 ? std::min(tiles, device.properties().compute_units / share * share)
                                : tiles * split;
  const Block block = block_of(rows, columns);
  const LaunchShape shape{.grid = {static_cast<std::uint32_t>(blocks)},
                          .block = {block.threads},
                          .dynamic_shared_bytes = block.shared_bytes,
                          .cluster = {static_cast<std::uint32_t>(split * share)},
                          .programmatic_overlap = true};
  const Output fixed = output_of(problem);
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (tiles == 0) return;
    const Output out = with_arguments(fixed, args);
    const TensorMap b = operand_map(device, args["b"], 1, true, static_cast<int>(rows));
    const TensorMap a = operand_map(device, args["a"], 0, true, static_cast<int>(columns) / share);
    launch(*context.stream, kernel, shape, b, a, out, tiles, steps, split, share);
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
