// SPDX-License-Identifier: Apache-2.0
// On a CPU: see apart.h.
#include "rooftile/ops/gemm_rmsnorm/apart.h"

namespace rooftile::ops::gemm_rmsnorm {

extern const KernelDef cpu_apart;
const KernelDef cpu_apart{
    .op = "gemm_rmsnorm",
    .name = "cpu_apart",
    .idea = "our kernels of rmsnorm and gemm one after the other, the normalised rows in memory",
    .target = Target::cpu,
    .determinism = Determinism::repeatable,
    .supports = supports_apart,
    .prepare = prepare_apart,
};

}  // namespace rooftile::ops::gemm_rmsnorm
