// SPDX-License-Identifier: Apache-2.0
// CUtensorMap descriptors, made by the driver.
#pragma once

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/tensor_map.h"

namespace rooftile {

/// `spec` passed check_tensor_map(). Throws Error(unsupported) for a type that TMA does not know,
/// and where the driver or the device has no TMA.
TensorMap encode_cuda_tensor_map(CudaContext& context, const TensorMapSpec& spec);

}  // namespace rooftile
