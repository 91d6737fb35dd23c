// SPDX-License-Identifier: Apache-2.0
// bf16 with a bias, an activation or a residual, narrow tiles. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_narrow_bf16_kernels, COLUMNS_ENTRIES(bf16, 128, Finish::columns),
                      COLUMNS_ENTRIES(bf16, 128, Finish::residual))

}  // namespace rooftile::ops::gemm
