// SPDX-License-Identifier: Apache-2.0
// Work of the host that falls into independent parts: data and references, not kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace rooftile {

/// body(first, last) for ranges that together are [0, count), each on a thread of its own, with at
/// least `least` in each.
template <class Body>
void in_parallel(std::size_t count, std::size_t least, const Body& body) {
  const std::size_t processors = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  const std::size_t threads =
      std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, processors);
  const auto part = [&](std::size_t thread) {
    body(count * thread / threads, count * (thread + 1) / threads);
  };
  std::vector<std::jthread> others;
  for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
  part(0);
}

}  // namespace rooftile
