// SPDX-License-Identifier: Apache-2.0
// fp16. See sm90_gated.h.
#include "rooftile/ops/gemm_glu/sm90_gated.h"

namespace rooftile::ops::gemm_glu {

ROOFTILE_KERNEL_TABLE(sm90_ws_fp16_kernels, GATED_ENTRIES(fp16, 256), GATED_ENTRIES(fp16, 128))

}  // namespace rooftile::ops::gemm_glu
