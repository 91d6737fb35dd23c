// SPDX-License-Identifier: Apache-2.0
// bf16 in the layouts nn, tn and tt. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_layouts_bf16_kernels, LAYOUT_ENTRIES(bf16, Finish::plain))

}  // namespace rooftile::ops::gemm
