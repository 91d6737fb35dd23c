// SPDX-License-Identifier: Apache-2.0
// fp16 with a bias or an activation, tiles of 192 columns. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_medium_columns_fp16_kernels,
                      COLUMNS_ENTRIES(fp16, 192, Finish::columns))

}  // namespace rooftile::ops::gemm
