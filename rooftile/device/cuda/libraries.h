// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries that kernels call.
#pragma once

#include "rooftile/device/libraries.h"

namespace rooftile {

std::vector<VendorLibrary> cuda_libraries();

}  // namespace rooftile
