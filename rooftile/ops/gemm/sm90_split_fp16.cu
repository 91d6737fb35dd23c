// SPDX-License-Identifier: Apache-2.0
// The instances of gemm/sm90_split for fp16. See sm90_split.h.
#include "rooftile/ops/gemm/sm90_split.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_split_fp16_kernels, SPLIT_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
