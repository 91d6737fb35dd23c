// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel and its launcher, for any layout of the operands; each .cu file has
// some instances. Persistent: a producer warpgroup copies tiles by TMA through a ring of stages,
// two consumer warpgroups multiply them and store D while the producer is ahead with the next tile.
// Blocks of a cluster are neighbours along m, and share the tile of B.
#pragma once

#include "rooftile/ops/gemm/sm90_epilogue.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"
#include "rooftile/tile/tile_order.h"
#if ROOFTILE_DEVICE_CODE
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

/// As many stages as fit beside the boxes of D: 4 of 256 columns, 6 of 128.
constexpr int ws_stages(int columns) { return columns == 256 ? 4 : 6; }

template <int kColumns>
struct WsShared {
  using Shape = Ring<kBlockM, kColumns, ws_stages(kColumns)>;
  static constexpr int kBoxes = Shape::kBytes;
  static constexpr int kPipeline = kBoxes + kConsumers * kBoxesOfConsumer * kBoxBytes;
  static constexpr int kBytes = kPipeline + 2 * 8 * ws_stages(kColumns) + kAlignment;
  static_assert(kBytes <= 227 * 1024, "more than a block can have");
};

#if ROOFTILE_DEVICE_CODE

/// kParts of 2: half the columns of a tile are the gate's, half those that it gates, and D has half
/// as many.
template <class T, Major kMajorA, Major kMajorB, int kColumns, int kParts = 1>
__device__ __forceinline__ void ws_body(const TensorMap* a, const TensorMap* const (&b)[kParts],
                                        const TensorMap* d, const Output& out,
                                        tile::GroupedTiles order, int steps, int cluster_blocks) {
  using S = WsShared<kColumns>;
  using Loop = Mainloop<T, kMajorA, kMajorB, kConsumers, 1, kColumns, ws_stages(kColumns), kParts>;
  constexpr int kColumnsOfD = kColumns / kParts;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  auto& stages = *reinterpret_cast<typename Loop::Stages*>(shared + S::kPipeline);
  const Cluster cluster{cluster_blocks == 1 ? 0 : static_cast<int>(cluster_rank()), cluster_blocks};
  if (threadIdx.x == 0) {
    stages.init(kConsumers * cluster_blocks);
    tensor_map_prefetch(a);
    for (const TensorMap* map : b) tensor_map_prefetch(map);
    tensor_map_prefetch(d);
  }
  if (cluster_blocks == 1)
    __syncthreads();
  else
    cluster_sync();

  const int first = static_cast<int>(blockIdx.x) / cluster_blocks;
  const int clusters = static_cast<int>(gridDim.x) / cluster_blocks;
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
  typename Loop::Position at;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      wait_for_grid();
      for (int number = first; number < order.count(); number += clusters) {
        const tile::GroupedTiles::Tile tile = order.at(number);
        Loop::produce(shared, stages, at, a, b,
                      (tile.row * cluster_blocks + cluster.rank) * kBlockM,
                      tile.column * kColumnsOfD, 0, steps, cluster);
      }
    }
  } else {
    setmaxnreg_inc<232>();
    const int consumer = warpgroup - 1;
    OutputOf<T> output{out, d, shared + S::kBoxes + consumer * kBoxesOfConsumer * kBoxBytes,
                       1 + consumer, static_cast<int>(threadIdx.x) % kWarpgroup};
    typename Loop::Sum sum;
    wait_for_grid();
    for (int number = first; number < order.count(); number += clusters) {
      const tile::GroupedTiles::Tile tile = order.at(number);
      const int row = (tile.row * cluster_blocks + cluster.rank) * kBlockM + consumer * 64;
      Loop::consume(shared, stages, at, sum, steps, consumer, cluster_blocks);
      output.template store<kParts == 2>(sum[0], row, tile.column * kColumnsOfD);
    }
    output.finish();
  }
  // A block's shared memory stays until all that write to it are done.
  __syncwarp();
  if (cluster_blocks != 1) cluster_sync();
}

#else

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
  launch.shape = {
      .grid = {static_cast<std::uint32_t>(clusters * cluster)},
      .block = {kThreads},
      .dynamic_shared_bytes = columns == 256 ? WsShared<256>::kBytes : WsShared<128>::kBytes,
      .cluster = {static_cast<std::uint32_t>(cluster)},
      .programmatic_overlap = true};
  return launch;
}

#endif

}  // namespace rooftile::ops::gemm
