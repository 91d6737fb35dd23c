// SPDX-License-Identifier: Apache-2.0
// Work of the host that falls into independent parts: data and references, not kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"

namespace ROOFTILE_API rooftile {

/// Threads that this process may use: $ROOFTILE_THREADS, else the processor affinity's count.
int default_threads();

/// Calls body(first, last) for ranges that together are [0, count), each once and with at least
/// `least` in it, from default_threads() threads: for work whose results do not depend on how it is
/// cut. The first exception is rethrown when all threads have ended.
void in_parallel(std::size_t count, std::size_t least,
                 FunctionRef<void(std::size_t first, std::size_t last)> body);

/// What is worth handing to another thread: far longer to fill, round or compare than to start one.
inline constexpr std::size_t kParallelElements = std::size_t{1} << 16;

/// body(i) for each i in [0, count), as above; each i is little work.
template <class Body>
void for_each_element(std::size_t count, const Body& body) {
  in_parallel(count, kParallelElements, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
}

/// body(row) for each of `rows` rows, as above; a row is the work of `cols` elements.
template <class Body>
void for_each_row(std::int64_t rows, std::int64_t cols, const Body& body) {
  const auto least = kParallelElements / static_cast<std::size_t>(std::max<std::int64_t>(cols, 1));
  in_parallel(static_cast<std::size_t>(rows), least + 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) body(static_cast<std::int64_t>(row));
  });
}

/// Claims memory that is about to be written everywhere, in large pages where the system has them:
/// else each page is claimed where it is touched first, by one thread.
void claim_in_parallel(void* memory, std::size_t bytes);

/// memcpy, memset and memcmp() == 0 of large memory.
void copy_in_parallel(void* to, const void* from, std::size_t bytes);
void fill_in_parallel(void* to, int byte, std::size_t bytes);
bool are_equal_in_parallel(const void* a, const void* b, std::size_t bytes);

}  // namespace rooftile
