// SPDX-License-Identifier: Apache-2.0
// The kernel of gemm for one or two rows, the squares of A's rows summed beside the products: no
// kernel before it, and no rows in memory between the two. Each sm80_gemv*.cu has some of its
// instances. See ops/gemm/sm80_gemv.h.
#pragma once

#include "rooftile/ops/gemm/sm80_gemv.h"

namespace rooftile::ops::gemm_rmsnorm {

using namespace gemm;

#if ROOFTILE_DEVICE_CODE

template <class T, int kRows, int kShare, bool kIsWhole>
__global__ void __launch_bounds__(GemvBlock::kThreads, GemvBlock::kBlocksAtOnce)
    gemv(const Sm90Call call, const Rmsnorm norm) {
  gemv_body<T, kRows, kShare, kIsWhole, true>(call, norm);
}

#endif

}  // namespace rooftile::ops::gemm_rmsnorm
