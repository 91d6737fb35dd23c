// SPDX-License-Identifier: Apache-2.0
// The instances of the warp-specialised kernel for a weight [n, k] (layout nt) with a bias, an
// activation or a residual like D on the way to D.
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

template <class T, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_columns(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
               const __grid_constant__ TensorMap d, const __grid_constant__ TensorMap residual,
               const __grid_constant__ Output out, tile::GroupedTiles order, int steps) {
  ws_body<T, Major::k, Major::k, kColumns, kFinish, kBlocks>(&a, {&b}, &d, &residual, out, order,
                                                             steps);
}

}  // namespace
#else
extern const KernelTable sm90_ws_columns_kernels;
#endif

#define COLUMNS_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws_columns<__VA_ARGS__>)
#define COLUMNS_ENTRIES(type, width)                                                              \
  COLUMNS_ENTRY(type, width, Finish::columns, 2), COLUMNS_ENTRY(type, width, Finish::columns, 1), \
      COLUMNS_ENTRY(type, width, Finish::residual, 2),                                            \
      COLUMNS_ENTRY(type, width, Finish::residual, 1)
ROOFTILE_KERNEL_TABLE(sm90_ws_columns_kernels, COLUMNS_ENTRIES(bf16, 256),
                      COLUMNS_ENTRIES(bf16, 128), COLUMNS_ENTRIES(fp16, 256),
                      COLUMNS_ENTRIES(fp16, 128))

}  // namespace rooftile::ops::gemm
