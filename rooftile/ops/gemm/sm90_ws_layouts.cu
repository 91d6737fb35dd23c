// SPDX-License-Identifier: Apache-2.0
// The instances of the warp-specialised kernel for the layouts nn, tn and tt: an operand that is
// not contiguous along k is mn-major, which wgmma takes of 16-bit types.
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_ws.h"

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

template <class T, Major kMajorA, Major kMajorB, int kColumns, Finish kFinish, int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    ws_layout(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
              const __grid_constant__ TensorMap d, const __grid_constant__ Output out,
              tile::GroupedTiles order, int steps) {
  ws_body<T, kMajorA, kMajorB, kColumns, kFinish, kBlocks>(&a, {&b}, &d, nullptr, out, order,
                                                           steps);
}

}  // namespace
#else
extern const KernelTable sm90_ws_layouts_kernels;
#endif

#define LAYOUT_ENTRY(...) ROOFTILE_KERNEL_ENTRY(ws_layout<__VA_ARGS__>)
#define LAYOUT_ENTRIES(type, ...)                           \
  LAYOUT_ENTRY(type, Major::k, Major::mn, __VA_ARGS__),     \
      LAYOUT_ENTRY(type, Major::mn, Major::k, __VA_ARGS__), \
      LAYOUT_ENTRY(type, Major::mn, Major::mn, __VA_ARGS__)
// Wide tiles in pairs of blocks, narrow ones alone: those are for small products.
#define LAYOUT_ENTRIES_OF(type)                                                           \
  LAYOUT_ENTRIES(type, 256, Finish::plain, 2), LAYOUT_ENTRIES(type, 256, Finish::any, 2), \
      LAYOUT_ENTRIES(type, 128, Finish::plain, 1), LAYOUT_ENTRIES(type, 128, Finish::any, 1)
ROOFTILE_KERNEL_TABLE(sm90_ws_layouts_kernels, LAYOUT_ENTRIES_OF(bf16), LAYOUT_ENTRIES_OF(fp16))

}  // namespace rooftile::ops::gemm
