// SPDX-License-Identifier: Apache-2.0
// The descriptor of a tensor in global memory that TMA copies boxes of, as a kernel's parameter:
//   __global__ void kernel(const __grid_constant__ rooftile::TensorMap map)
// Made on the host by make_tensor_map() of device/tensor_map.h. On a GPU it is a CUtensorMap; the
// simulator has its own.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

/// Aligned as CUDA 13 has it; the instructions need 64 bytes.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

}  // namespace rooftile
