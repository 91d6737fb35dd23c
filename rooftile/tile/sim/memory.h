// SPDX-License-Identifier: Apache-2.0
// memcpy, memmove and memset of kernels. Why here: the host's are machine code without hooks, whose
// accesses nobody would see. Copies of few bytes become plain loads and stores, as on a GPU.
#pragma once

#include <stddef.h>
#include <string.h>

#include "rooftile/base/api.h"

namespace rooftile {
namespace ROOFTILE_API sim {
void copy_bytes(void* to, const void* from, size_t bytes);
void set_bytes(void* to, int value, size_t bytes);
constexpr size_t kMostInlineBytes = 16;
}  // namespace sim
}  // namespace rooftile

#ifdef ROOFTILE_SIM_PASS
// What a header of the C library may do to its own functions (_FORTIFY_SOURCE does).
#define ROOFTILE_IN_PLACE_OF_LIBRARY \
  extern inline __attribute__((always_inline, gnu_inline, artificial))
extern "C" {
ROOFTILE_IN_PLACE_OF_LIBRARY void* memcpy(void* to, const void* from, size_t bytes) noexcept {
  if (__builtin_constant_p(bytes) && bytes <= rooftile::sim::kMostInlineBytes)
    return __builtin_memcpy(to, from, bytes);
  rooftile::sim::copy_bytes(to, from, bytes);
  return to;
}
ROOFTILE_IN_PLACE_OF_LIBRARY void* memmove(void* to, const void* from, size_t bytes) noexcept {
  rooftile::sim::copy_bytes(to, from, bytes);
  return to;
}
ROOFTILE_IN_PLACE_OF_LIBRARY void* memset(void* to, int value, size_t bytes) noexcept {
  rooftile::sim::set_bytes(to, value, bytes);
  return to;
}
}
#undef ROOFTILE_IN_PLACE_OF_LIBRARY
#endif
