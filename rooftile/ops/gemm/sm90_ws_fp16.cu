// SPDX-License-Identifier: Apache-2.0
// fp16, a weight [n, k]. See sm90_ws_kernels.h.
#include "rooftile/ops/gemm/sm90_ws_kernels.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_ws_fp16_kernels, WS_ENTRIES(fp16, 256), WS_ENTRIES(fp16, 128))

}  // namespace rooftile::ops::gemm
