// SPDX-License-Identifier: Apache-2.0
// rmsnorm and gemm one after the other by kernels of ours, the normalised rows in the workspace in
// A's type: for any number of rows, and what fusing them is measured against.
#pragma once

#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm_rmsnorm {

Support supports_apart(const Problem& problem, const DeviceProperties& device);
Prepared prepare_apart(const Problem& problem, Device& device, const Config&);

}  // namespace rooftile::ops::gemm_rmsnorm
