// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs through the CUDA runtime, which is linked statically and loads the driver when first
// asked: the same program starts where there is neither.
#pragma once

#include "rooftile/device/device.h"

namespace rooftile {

DeviceFactory cuda_device_factory();

}  // namespace rooftile
