// SPDX-License-Identifier: Apache-2.0
// Hands numbered tasks to the threads of a device, each with the number of the worker that does it,
// which is the number of the piece of workspace that it may use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rooftile/base/function_ref.h"
#include "rooftile/device/device.h"

namespace rooftile::ops::gemm {

/// The threads of a device: calls body(i) for each i in [0, count), and returns when all have.
using Launch = FunctionRef<void(std::int64_t count, FunctionRef<void(std::int64_t)> body)>;

/// Those of a stream's device. The stream must outlive what is returned.
inline auto launch_on(Stream& stream) {
  return [&stream](std::int64_t count, FunctionRef<void(std::int64_t)> body) {
    stream.launch(count, body);
  };
}

/// Calls body(worker, task) for each task in [0, tasks). Tasks go to whoever is free, in order, so
/// a thread that is held up holds up one task. No two calls with one worker number run at a time.
template <class Body>
void share_out(Launch launch, int workers, std::int64_t tasks, const Body& body) {
  std::atomic<std::int64_t> next{0};
  launch(std::min<std::int64_t>(workers, tasks), [&](std::int64_t worker) {
    for (;;) {
      const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks) return;
      body(worker, task);
    }
  });
}

}  // namespace rooftile::ops::gemm
