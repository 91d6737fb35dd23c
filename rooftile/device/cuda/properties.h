// SPDX-License-Identifier: Apache-2.0
// What a GPU is, as the driver and the hardware table tell.
#pragma once

#include <string>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/device.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {

struct CudaProperties {
  DeviceProperties device;  // kind: "sm90"
  Gpu limits;  // the table's row, or the little that the driver tells of an unknown GPU
  std::string pci_bus_id;
};

CudaProperties cuda_properties(CudaContext& context);

}  // namespace rooftile
