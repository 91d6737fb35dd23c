// SPDX-License-Identifier: Apache-2.0
// Few tiles of D and a long k, which would leave most of the GPU idle: parts of k are multiplied
// like tiles of their own by the warp-specialised kernel, whose threads leave their accumulators in
// the workspace as they are, and a second kernel adds the parts in their order, so that the bits
// are the same in every run. Each sm90_split*.cu has some instances. Source of the idea: NVIDIA
// CUTLASS, "Efficient GEMM in CUDA: parallelized reductions" (split-K).
#pragma once

#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

constexpr int kSplitColumns = 256;                   // of a tile
constexpr int kQuadsOfTile = kSplitColumns / 2 / 4;  // of a thread of a consumer
constexpr int kQuadsOfBlock = 2;                     // that sum_parts adds
constexpr std::int64_t kBytesOfTile = std::int64_t{kBlockM} * kSplitColumns * 4;

#if ROOFTILE_DEVICE_CODE

template <class T, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_parts(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
             const __grid_constant__ Output sums, tile::GroupedTiles order, int steps,
             const Parts parts) {
  ws_body<T, Major::k, Major::k, kSplitColumns, Finish::parts, kBlocks>(&a, {&b}, nullptr, nullptr,
                                                                        sums, order, steps, parts);
}

#endif

}  // namespace rooftile::ops::gemm

#define SPLIT_ENTRIES(type) \
  ROOFTILE_KERNEL_ENTRY(ws_parts<type, 2>), ROOFTILE_KERNEL_ENTRY(ws_parts<type, 1>)
