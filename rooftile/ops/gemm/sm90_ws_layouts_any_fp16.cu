// SPDX-License-Identifier: Apache-2.0
// fp16 in the layouts nn, tn and tt, with what a thread cannot finish by itself. See
// sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_layouts_any_fp16_kernels, LAYOUT_ENTRIES(fp16, Finish::any))

}  // namespace rooftile::ops::gemm
