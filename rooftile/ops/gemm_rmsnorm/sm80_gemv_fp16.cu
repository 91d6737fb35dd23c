// SPDX-License-Identifier: Apache-2.0
// The instances of gemm_rmsnorm/sm80_gemv for fp16. See sm80_normalising.h.
#include "rooftile/ops/gemm_rmsnorm/sm80_normalising.h"

namespace rooftile::ops::gemm_rmsnorm {

ROOFTILE_KERNEL_TABLE(sm80_gemv_fp16_kernels, GEMV_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm_rmsnorm
