// SPDX-License-Identifier: Apache-2.0
// bf16, tiles of 192 columns. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_medium_bf16_kernels, WS_ENTRIES(bf16, 192))

}  // namespace rooftile::ops::gemm
