// SPDX-License-Identifier: Apache-2.0
// __launch_bounds__ in the simulator. An attribute must carry the number, which may depend on a
// template's parameters, from the kernel's declaration to its entry in the table. GCC has one that
// does: patchable_function_entry(n, n) puts n empty instructions of one byte before a function,
// where nothing runs them, and their address in a section of its own.
#pragma once

#include <stdint.h>

// Why not inlined: the kernel and what calls it would each have a copy. Why the sum: GCC 12 takes
// an expression, and crashes at the name of a constant.
#define __launch_bounds__(threads, ...) \
  __attribute__((noinline, patchable_function_entry((threads) + 0u, (threads) + 0u)))

// From the linker, of the program or library that the kernels are in; none where nothing has
// bounds.
extern "C" {
extern const unsigned char* const __start___patchable_function_entries[]
    __attribute__((weak, visibility("hidden")));
extern const unsigned char* const __stop___patchable_function_entries[]
    __attribute__((weak, visibility("hidden")));
}

namespace rooftile::sim {

/// The threads of a block that a kernel was declared with; 0: it says nothing.
inline int launch_bound(const void* kernel) {
  constexpr unsigned char kNop = 0x90;
  const auto* const begin = static_cast<const unsigned char*>(kernel);
  for (auto at = __start___patchable_function_entries; at != __stop___patchable_function_entries;
       ++at) {
    const unsigned char* byte = *at;
    if (byte >= begin) continue;
    while (byte != begin && *byte == kNop) ++byte;
    if (byte == begin) return static_cast<int>(begin - *at);
  }
  return 0;
}

}  // namespace rooftile::sim
