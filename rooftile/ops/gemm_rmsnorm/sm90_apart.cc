// SPDX-License-Identifier: Apache-2.0
// On a GPU: see apart.h.
#include "rooftile/ops/gemm_rmsnorm/apart.h"

namespace rooftile::ops::gemm_rmsnorm {

extern const KernelDef sm90_apart;
const KernelDef sm90_apart{
    .op = "gemm_rmsnorm",
    .name = "sm90_apart",
    .idea = "our kernels of rmsnorm and gemm one after the other, the normalised rows in memory",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = supports_apart,
    .prepare = prepare_apart,
};

}  // namespace rooftile::ops::gemm_rmsnorm
