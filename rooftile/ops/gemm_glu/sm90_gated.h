// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel of gemm, half the columns of a tile the gate's and the same of up: a
// thread holds both sums of an element, so the gate costs no memory. Each sm90_ws*.cu has some of
// its instances. See ops/gemm/sm90_ws.h.
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm_glu {

using namespace gemm;

#if ROOFTILE_DEVICE_CODE

template <class T, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    gated(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap gate,
          const __grid_constant__ TensorMap up, const __grid_constant__ TensorMap d,
          const __grid_constant__ Output out, tile::GroupedTiles order, int steps) {
  ws_body<T, Major::k, Major::k, kColumns, kFinish, kBlocks>(&a, {&gate, &up}, &d, nullptr, out,
                                                             order, steps);
}

#endif

}  // namespace rooftile::ops::gemm_glu

#define GATED_ENTRY(...) ROOFTILE_KERNEL_ENTRY(gated<__VA_ARGS__>)
#define GATED_ENTRIES(type, columns)                                                          \
  GATED_ENTRY(type, columns, Finish::gated, 2), GATED_ENTRY(type, columns, Finish::gated, 1), \
      GATED_ENTRY(type, columns, Finish::gated_any, 2),                                       \
      GATED_ENTRY(type, columns, Finish::gated_any, 1)
