// SPDX-License-Identifier: Apache-2.0
// The standard epilogue, for the processor at hand.
#include <algorithm>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/ops/gemm/cpu_gemm.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/gemm/cpu_epilogue_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::gemm {

void finish_block(const GemmCall& call, const AccBlock& block) {
  static const auto finish = ROOFTILE_SIMD_CHOOSE(finish_rows);
  finish(call, block);
}

}  // namespace rooftile::ops::gemm
