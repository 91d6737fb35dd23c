// SPDX-License-Identifier: Apache-2.0
// Few rows of A, at most 128: the time is that of reading B, a weight [n, k]. B takes the place of
// the left operand, whose 64 rows an instruction needs; A's rows, padded to 8, 16, …, are the
// columns. The ring holds most of shared memory, so that enough of B is on its way. Blocks of a
// cluster share A, each with its own tile of B; or two split k of one tile and add their parts
// through distributed shared memory: no workspace, and the same bits in every run, since a sum of
// two has no order; and of many rows two blocks have half each and share B. Sources of the ideas:
// the exchange of operands for small batches, NVIDIA CUTLASS ("swap AB"); splitting k inside a
// cluster, NVIDIA "CUDA C++ Programming Guide: distributed shared memory".
// Each sm90_stream*.cu has some of its instances.
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"
#include "rooftile/ops/gemm/sm90_turned.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/ptx/elect.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#endif

namespace rooftile::ops::gemm {

/// Of k in a stage. Why two where they are short: a stage costs producer and consumers as much.
constexpr int steps_of_stage(int columns) { return columns <= 64 ? 2 : 1; }

/// kRows of B and kColumns rows of A at a time.
template <int kRows, int kColumns>
struct StreamShared {
  static constexpr int kConsumers = kRows / 64;
  static constexpr int kSteps = steps_of_stage(kColumns);
  static constexpr int kThreads = kWarpgroup * (1 + kConsumers);
  static constexpr int kOutputBytes = kConsumers * TurnedTile<kColumns>::kBytes;
  static constexpr int kMostStages = 16;
  static constexpr int kBarrierBytes = 16 * kMostStages;
  static constexpr int kOther = kOutputBytes + kBarrierBytes + kAlignment;
  static constexpr int kStage = kSteps * (kRows + kColumns) * kRowBytes;
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

/// What a kernel needs of it. Why from the host: a GPU has no instruction that divides.
struct Work {
  int tiles = 0;   // of B
  int stages = 0;  // of k
  int stages_of_part = 0;
  uint32_t spread = 0;  // from one cluster's start along k to the next one's, 2^32 being all of it
  Division division{};
  int rows_of_b = 0, rows_of_a = 0;  // of a tile, that a block loads
  // Bits: the ranks of the blocks that share B's tile in the first group of a cluster, and A's tile
  // in the first half.
  uint32_t blocks_of_b = 0, blocks_of_a = 0;
};

#if ROOFTILE_DEVICE_CODE

template <class T, int kRows, int kColumns>
__global__ void __launch_bounds__((StreamShared<kRows, kColumns>::kThreads), 1)
    stream(const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap a,
           const __grid_constant__ Output out, const __grid_constant__ Work work) {
  using S = StreamShared<kRows, kColumns>;
  using Loop = Mainloop<T, Major::k, Major::k, S::kConsumers, kColumns, S::kStages, 1, S::kSteps>;
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
  const int first = is_split ? group * work.stages_of_part : 0;
  const int last =
      work.stages < first + work.stages_of_part ? work.stages : first + work.stages_of_part;
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
    const TurnedOutput<T, kColumns> output{out, shared + S::kOutput + consumer * Tile::kBytes,
                                           1 + consumer, in_warpgroup, row};
    // A stage is filled by the blocks that share B's tile and by those that share A's.
    const tile::Releaser releaser = tile::Releaser::of(in_warpgroup, blocks_of_b | blocks_of_a);
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
    __syncwarp();
  }
  // A block's shared memory stays until the others have written it.
  if (!is_alone && !is_split) cluster_wait();
}

#endif

}  // namespace rooftile::ops::gemm

#define STREAM_ENTRY(...) ROOFTILE_KERNEL_ENTRY(stream<__VA_ARGS__>)
#define STREAM_ENTRIES(type)                                                                 \
  STREAM_ENTRY(type, 64, 8), STREAM_ENTRY(type, 64, 16), STREAM_ENTRY(type, 64, 32),         \
      STREAM_ENTRY(type, 64, 64), STREAM_ENTRY(type, 64, 128), STREAM_ENTRY(type, 128, 8),   \
      STREAM_ENTRY(type, 128, 16), STREAM_ENTRY(type, 128, 32), STREAM_ENTRY(type, 128, 64), \
      STREAM_ENTRY(type, 128, 128)
