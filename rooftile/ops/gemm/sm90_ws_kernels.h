// SPDX-License-Identifier: Apache-2.0
// The kernels of gemm/sm90_ws, of which each sm90_ws*.cu has some instances: as many as nvcc
// compiles in a few seconds. `ws`: a weight [n, k] (layout nt). `ws_columns`: the same with a bias,
// an activation or a residual like D on the way to D. `ws_layout`: nn, tn and tt, where an operand
// that is not contiguous along k is mn-major, which wgmma takes of 16-bit types.
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE

template <class T, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
       const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
       tile::GroupedTiles order, int steps) {
  ws_body<T, Major::k, Major::k, kColumns, kFinish, kBlocks>(&a, {&b}, &d, nullptr, out, order,
                                                             steps);
}

template <class T, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_columns(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
               const __grid_constant__ TensorMap d, const __grid_constant__ TensorMap residual,
               const __grid_constant__ Output out, tile::GroupedTiles order, int steps) {
  ws_body<T, Major::k, Major::k, kColumns, kFinish, kBlocks>(&a, {&b}, &d, &residual, out, order,
                                                             steps);
}

template <class T, Major kMajorA, Major kMajorB, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_layout(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
              const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
              tile::GroupedTiles order, int steps) {
  ws_body<T, kMajorA, kMajorB, kColumns, kFinish, kBlocks>(&a, {&b}, &d, nullptr, out, order,
                                                           steps);
}

#endif

}  // namespace rooftile::ops::gemm

#define WS_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws<__VA_ARGS__>)
#define WS_ENTRIES(type, columns)                                                     \
  WS_ENTRY(type, columns, Finish::plain, 2), WS_ENTRY(type, columns, Finish::any, 2), \
      WS_ENTRY(type, columns, Finish::plain, 1), WS_ENTRY(type, columns, Finish::any, 1)

#define COLUMNS_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws_columns<__VA_ARGS__>)
#define COLUMNS_ENTRIES(type, columns, finish) \
  COLUMNS_ENTRY(type, columns, finish, 2), COLUMNS_ENTRY(type, columns, finish, 1)

// Wide tiles in pairs of blocks, narrow ones alone: those are for small products.
#define LAYOUT_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws_layout<__VA_ARGS__>)
#define LAYOUT_ENTRIES_OF(type, major_a, major_b, finish) \
  LAYOUT_ENTRY(type, major_a, major_b, 256, finish, 2),   \
      LAYOUT_ENTRY(type, major_a, major_b, 128, finish, 1)
#define LAYOUT_ENTRIES(type, finish)                        \
  LAYOUT_ENTRIES_OF(type, Major::k, Major::mn, finish),     \
      LAYOUT_ENTRIES_OF(type, Major::mn, Major::k, finish), \
      LAYOUT_ENTRIES_OF(type, Major::mn, Major::mn, finish)
