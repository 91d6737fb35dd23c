// SPDX-License-Identifier: Apache-2.0
// Addresses in the window of shared memory. PTX ISA, "cvta".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// The 32-bit address that instructions and descriptors take, of a variable in shared memory.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
#ifdef __CUDACC__
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
#else
  return sim::shared_address(pointer);
#endif
}

}  // namespace rooftile
