// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/libraries.h"

#include <cstddef>
#include <string>

#include "rooftile/device/cuda/cublaslt.h"
#include "rooftile/device/cuda/cudnn.h"

namespace rooftile {
namespace {

// Both count alike: 91900 is 9.19.0.
std::string version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

template <class Library>
VendorLibrary entry(const char* name, const Library& library) {
  return {.family = "cuda",
          .name = name,
          .version = library.reason.empty() ? version_text(library.version) : "",
          .reason = library.reason};
}

}  // namespace

std::vector<VendorLibrary> cuda_libraries() {
  std::vector<VendorLibrary> list;
#if ROOFTILE_HAS_CUBLASLT
  list.push_back(entry("cuBLASLt", cublaslt_library()));
#endif
  list.push_back(entry("cuDNN", cudnn_library()));
  return list;
}

}  // namespace rooftile
