// SPDX-License-Identifier: Apache-2.0
// fp16. See sm90_stream.h.
#include "rooftile/ops/gemm/sm90_stream.h"

namespace rooftile::ops::gemm {

ROOFTILE_KERNEL_TABLE(sm90_stream_fp16_kernels, STREAM_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
