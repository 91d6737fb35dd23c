// SPDX-License-Identifier: Apache-2.0
// The instances of the warp-specialised kernel for a weight [n, k] (layout nt) with a bias or an
// activation and nothing else on the way to D.
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

template <class T, int kColumns, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_columns(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
               const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
               tile::GroupedTiles order, int steps) {
  ws_body<T, Major::k, Major::k, kColumns, Finish::columns, kBlocks>(&a, {&b}, &d, out, order,
                                                                     steps);
}

}  // namespace
#else
extern const KernelTable sm90_ws_columns_kernels;
#endif

#define COLUMNS_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws_columns<__VA_ARGS__>)
#define COLUMNS_ENTRIES(type)                                                            \
  COLUMNS_ENTRY(type, 256, 2), COLUMNS_ENTRY(type, 256, 1), COLUMNS_ENTRY(type, 128, 2), \
      COLUMNS_ENTRY(type, 128, 1)
ROOFTILE_KERNEL_TABLE(sm90_ws_columns_kernels, COLUMNS_ENTRIES(bf16), COLUMNS_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
