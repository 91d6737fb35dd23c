// SPDX-License-Identifier: Apache-2.0
// The instances of gemm/sm90_ws of 192 columns, for fp16 and a weight [n, k]. See
// sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_medium_fp16_kernels, WS_ENTRIES(fp16, 192))

}  // namespace rooftile::ops::gemm
