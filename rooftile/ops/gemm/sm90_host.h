// SPDX-License-Identifier: Apache-2.0
// The host's half of what the sm90 kernels of gemm share.
#pragma once

#include "rooftile/op/kernel.h"
#include "rooftile/ops/gemm/sm90_gemm.h"

namespace rooftile::ops::gemm {

/// Everything of the call but the addresses.
Sm90Call sm90_call(const Problem& problem);
/// The addresses of one run.
Sm90Call with_arguments(Sm90Call call, const Arguments& args);
/// What no sm90 kernel takes: blocks, activations with erf.
Support supports_sm90(const Problem& problem);

}  // namespace rooftile::ops::gemm
