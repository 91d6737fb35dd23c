// SPDX-License-Identifier: Apache-2.0
// The instances of the warp-specialised kernel for the layouts nn, tn and tt: an operand that is
// not contiguous along k is mn-major, which wgmma takes of 16-bit types.
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

template <class T, Major kMajorA, Major kMajorB>
__global__ void __launch_bounds__(kThreads, 1)
    ws_layout(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
              const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
              tile::GroupedTiles order, int steps, int cluster_blocks) {
  ws_body<T, kMajorA, kMajorB, 128>(&a, {&b}, &d, out, order, steps, cluster_blocks);
}

}  // namespace
#else
extern const KernelTable sm90_ws_layouts_kernels;
#endif

ROOFTILE_KERNEL_TABLE(sm90_ws_layouts_kernels,
                      ROOFTILE_KERNEL_ENTRY(ws_layout<bf16, Major::k, Major::mn>),
                      ROOFTILE_KERNEL_ENTRY(ws_layout<bf16, Major::mn, Major::k>),
                      ROOFTILE_KERNEL_ENTRY(ws_layout<bf16, Major::mn, Major::mn>),
                      ROOFTILE_KERNEL_ENTRY(ws_layout<fp16, Major::k, Major::mn>),
                      ROOFTILE_KERNEL_ENTRY(ws_layout<fp16, Major::mn, Major::k>),
                      ROOFTILE_KERNEL_ENTRY(ws_layout<fp16, Major::mn, Major::mn>))

}  // namespace rooftile::ops::gemm
