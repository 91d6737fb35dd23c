// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/libraries.h"

#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/libraries.h"
#endif

namespace rooftile {

std::vector<VendorLibrary> vendor_libraries() {
#if ROOFTILE_WITH_CUDA
  return cuda_libraries();
#else
  return {};
#endif
}

}  // namespace rooftile
