// SPDX-License-Identifier: Apache-2.0
// What calls of a vendor's cpu library share: opening it when it is first needed, where it writes
// its f32 result, and the epilogue that it does not know, as a pass over that result.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "rooftile/ops/gemm/cpu_gemm.h"
#include "rooftile/ops/gemm/cpu_share.h"

namespace rooftile::ops::gemm {

/// Sets `function` to the library's symbol; false if it has none.
template <class Function>
bool find_symbol(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  return function != nullptr;
}

/// Where the library writes A . B.
struct VendorTarget {
  bool is_d;           // D itself: f32 with contiguous rows, and no epilogue
  std::int64_t ld;     // of D, or of a buffer in the workspace with rows padded to 16
  std::int64_t bytes;  // of the buffer
};

VendorTarget vendor_target(const Problem& problem, const GemmCall& shape);

/// D from the buffer, on all threads. Overwrites the buffer.
void finish_vendor(const GemmCall& call, float* buffer, std::int64_t ld, Launch launch);

}  // namespace rooftile::ops::gemm
