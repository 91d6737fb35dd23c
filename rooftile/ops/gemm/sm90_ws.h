// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel and its launcher, for any layout of the operands; each .cu file has
// some instances. Persistent: a producer warpgroup copies tiles by TMA through a ring of stages,
// two consumer warpgroups multiply them, half the rows each, and store a tile of D while the next
// one is multiplied (CUTLASS: "cooperative"). Blocks of a cluster are neighbours along m, and share
// the tile of B.
#pragma once

#include "rooftile/ops/gemm/sm90_epilogue.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"
#include "rooftile/tile/tile_order.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/ptx/elect.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#else
#include <algorithm>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

constexpr int kConsumers = 2;
constexpr int kBlockM = 64 * kConsumers;
constexpr int kThreads = kWarpgroup * (1 + kConsumers);

/// As many stages as fit beside the boxes of D.
constexpr int ws_stages(int columns) { return columns == 128 ? 6 : 4; }

template <int kColumns>
struct WsShared {
  using Shape = Ring<kBlockM, kColumns, ws_stages(kColumns)>;
  static constexpr int kBoxes = Shape::kBytes;
  static constexpr int kPipeline = kBoxes + kConsumers * kBoxesOfConsumer * kBoxBytes;
  static constexpr int kBytes = kPipeline + 2 * 8 * ws_stages(kColumns) + kAlignment;
  static_assert(kBytes <= 227 * 1024, "more than a block can have");
};

/// k cut into parts, for Finish::parts: each part of each tile is worked on like a tile, one part
/// of all of them after the other.
struct Parts {
  int count = 1;
  int steps = 0;  // of one; the last may have fewer
  tile::Divisor of_tiles{};
};

#if ROOFTILE_DEVICE_CODE

/// kBlocks: of a cluster. `residual`: for Finish::residual, that L2 fetches it ahead. Gated: half
/// the columns of a tile are the gate's, half those that it gates, and D has half as many.
template <class T, Major kMajorA, Major kMajorB, int kColumns, Finish kFinish, int kBlocks,
          int kParts>
__device__ __forceinline__ void ws_body(const TensorMap* a, const TensorMap* const (&b)[kParts],
                                        const TensorMap* d, const TensorMap* residual,
                                        const Output& out, tile::GroupedTiles order, int steps,
                                        Parts parts = {}) {
  static_assert(kParts == (is_gated(kFinish) ? 2 : 1));
  using S = WsShared<kColumns>;
  using Loop = Mainloop<T, kMajorA, kMajorB, kConsumers, kColumns, ws_stages(kColumns), kParts>;
  constexpr int kColumnsOfD = kColumns / kParts;
  constexpr int kRowsOfB = kColumnsOfD / kBlocks;  // of a tile of it, that a block loads
  constexpr uint32_t kOthers = kBlocks == 1 ? 0 : (1u << kBlocks) - 1;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  auto& stages = *reinterpret_cast<typename Loop::Stages*>(shared + S::kPipeline);
  const int rank = kBlocks == 1 ? 0 : static_cast<int>(cluster_rank());
  const auto thread_of_block = static_cast<int>(threadIdx.x);
  if (thread_of_block < ws_stages(kColumns)) stages.init(thread_of_block, kConsumers * kBlocks);
  if (thread_of_block == 0) {
    tensor_map_prefetch(a);
    for (const TensorMap* map : b) tensor_map_prefetch(map);
    if constexpr (stores_by_tma(kFinish)) tensor_map_prefetch(d);
  }
  if (kBlocks == 1)
    __syncthreads();
  else
    cluster_meet();
  launch_dependents();

  const int first = static_cast<int>(blockIdx.x) / kBlocks;
  const int clusters = static_cast<int>(gridDim.x) / kBlocks;
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
  struct Item {
    tile::GroupedTiles::Tile tile;
    int first, last;  // steps of k
  };
  const int items = order.count() * parts.count;
  const auto item = [&](int number) -> Item {
    if constexpr (kFinish != Finish::parts) return {order.at(number), 0, steps};
    const int part = parts.of_tiles.quotient(number);
    const int from = part * parts.steps;
    const int to = from + parts.steps;
    return {order.at(number - part * order.count()), from, to < steps ? to : steps};
  };
  typename Loop::Position at;
  if (warpgroup == 0) {
    setmaxnreg_dec<24>();
    if (threadIdx.x < 32 && elect_sync()) {
      wait_for_grid();
      for (int number = first; number < items; number += clusters) {
        const auto [tile, first_step, last_step] = item(number);
        const int row = (tile.row * kBlocks + rank) * kBlockM;
        const int column = tile.column * kColumnsOfD;
        if constexpr (kFinish == Finish::residual)
          for (int i = 0; i < kBlockM; i += kBoxRows)
            for (int j = 0; j < kColumnsOfD; j += kBoxColumns)
              tma_prefetch(residual, box_at(column + j, row + i));
        Loop::produce(shared, stages, at, a, b, row, column, first_step, last_step, first_step,
                      {0, kBlockM}, {rank * kRowsOfB, kRowsOfB, kOthers});
      }
    }
    __syncwarp();
    if (kBlocks != 1) cluster_arrive_relaxed();
  } else {
    setmaxnreg_inc<240>();
    const int consumer = warpgroup - 1;
    using Way = OutputOf<T, kFinish, Loop::Mma::kRegisters>;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    Way output{out, d, shared + S::kBoxes + consumer * kBoxesOfConsumer * kBoxBytes, 1 + consumer,
               thread};
    typename Loop::Sum sum;
    wait_for_grid();
    for (int number = first; number < items; number += clusters) {
      const auto [tile, first_step, last_step] = item(number);
      Loop::template consume<Way::kHalves>(shared, stages, at, sum, last_step - first_step,
                                           consumer, tile::Releaser::of(thread, kOthers),
                                           [&](int half) { output.store_half(half); });
      if constexpr (kFinish == Finish::parts)
        output.take(sum, (number * kBlocks + rank) * kConsumers + consumer, 0);
      else
        output.take(sum, (tile.row * kBlocks + rank) * kBlockM + consumer * 64,
                    tile.column * kColumnsOfD);
    }
    if (kBlocks != 1) cluster_arrive_relaxed();
    output.finish();
    __syncwarp();
  }
  // A block's shared memory stays until all that write to it are done.
  if (kBlocks != 1) cluster_wait();
}

#else

/// What gemm/sm90_ws is estimated to take in its best configuration, in steps along k of one tile
/// of 256 columns.
double ws_estimate(const Problem& problem, const DeviceProperties& device);

/// One launch of the kernel: `columns` of a tile, of which `columns_of_d` are D's.
struct WsLaunch {
  LaunchShape shape;
  tile::GroupedTiles order;
  int steps = 0;
};

inline WsLaunch ws_launch(const Problem& problem, const Device& device, int columns,
                          int columns_of_d, int cluster) {
  constexpr int kRowsOfGroup = 16;  // of tiles: their A and as many columns of B stay in L2
  WsLaunch launch;
  launch.order = {tiles_of(problem.axis("m"), kBlockM * cluster),
                  tiles_of(problem.axis("n"), columns_of_d), kRowsOfGroup / cluster};
  launch.steps = tiles_of(problem.axis("k"), kStepK);
  const int at_once = std::max(1, device.properties().compute_units / cluster);
  const int clusters = std::min(launch.order.count(), at_once);
  launch.shape = {.grid = {static_cast<std::uint32_t>(clusters * cluster)},
                  .block = {kThreads},
                  .dynamic_shared_bytes = columns == 256   ? WsShared<256>::kBytes
                                          : columns == 192 ? WsShared<192>::kBytes
                                                           : WsShared<128>::kBytes,
                  .cluster = {static_cast<std::uint32_t>(cluster)},
                  .programmatic_overlap = true};
  return launch;
}

#endif

}  // namespace rooftile::ops::gemm
