// SPDX-License-Identifier: Apache-2.0
// Libraries of vendors that kernels call, loaded at run time: which were found.
#pragma once

#include <string>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct VendorLibrary {
  std::string family;   // of the devices that it is for, as "cuda"
  std::string name;     // "cuDNN"
  std::string version;  // "9.19.0"; empty where none can be used
  std::string reason;   // why not; empty: it can
};

/// Those of GPUs, looked for as for a kernel that needs them; none without CUDA.
std::vector<VendorLibrary> vendor_libraries();

}  // namespace rooftile
