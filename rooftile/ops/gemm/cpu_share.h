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

/// Tasks shared out in runs: each worker has one of its own, which memory can be read through in
/// order, and then helps with what others have left. So a thread that is held up holds up one task.
class TaskRuns {
 public:
  TaskRuns(std::int64_t workers, std::int64_t tasks) : count_(std::min(workers, kMostRuns)) {
    for (std::int64_t i = 0; i < count_; ++i) {
      runs_[i].next.store(tasks * i / count_, std::memory_order_relaxed);
      runs_[i].end = tasks * (i + 1) / count_;
    }
  }
  [[nodiscard]] bool are_taken() const {
    return std::all_of(runs_, runs_ + count_, [](const Run& run) {
      return run.next.load(std::memory_order_relaxed) >= run.end;
    });
  }
  /// The task that a worker begins with, as far as is known now.
  [[nodiscard]] std::int64_t first(std::int64_t worker) const {
    return runs_[worker % count_].next.load(std::memory_order_relaxed);
  }
  /// Calls body(task) for the tasks of the worker's own run, then of the others', each task once.
  template <class Body>
  void take(std::int64_t worker, const Body& body) {
    for (std::int64_t i = 0; i < count_; ++i) {
      Run& run = runs_[(worker + i) % count_];
      for (;;) {
        const std::int64_t task = run.next.fetch_add(1, std::memory_order_relaxed);
        if (task >= run.end) break;
        body(task);
      }
    }
  }

 private:
  static constexpr std::int64_t kMostRuns = 32;
  struct alignas(64) Run {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };
  std::int64_t count_;
  Run runs_[kMostRuns];  // on the stack: launches allocate nothing
};

}  // namespace rooftile::ops::gemm
