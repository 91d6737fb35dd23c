// SPDX-License-Identifier: Apache-2.0
// bf16 with a residual like D, tiles of 192 columns. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_medium_residual_bf16_kernels,
                      COLUMNS_ENTRIES(bf16, 192, Finish::residual))

}  // namespace rooftile::ops::gemm
