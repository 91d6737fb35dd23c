// SPDX-License-Identifier: Apache-2.0
// Dot product of four bytes, added to a 32-bit integer, which wraps. PTX ISA, "dp4a".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// Signed: int32_t of packed int8_t.
__device__ __forceinline__ int32_t dp4a(int32_t a, int32_t b, int32_t c) {
#ifdef __CUDACC__
  return __dp4a(a, b, c);
#else
  auto sum = static_cast<uint32_t>(c);
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<uint32_t>(static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift));
  return static_cast<int32_t>(sum);
#endif
}

/// Unsigned: uint32_t of packed uint8_t.
__device__ __forceinline__ uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
#ifdef __CUDACC__
  return __dp4a(a, b, c);
#else
  for (int shift = 0; shift < 32; shift += 8) c += (a >> shift & 255) * (b >> shift & 255);
  return c;
#endif
}

}  // namespace rooftile
