// SPDX-License-Identifier: Apache-2.0
// The thread pool of the cpu device: fork and join over a counted loop. Threads are started once;
// a run allocates nothing. Written with atomics, a mutex and a condition variable only, so that
// ThreadSanitizer sees every ordering (it does not see into OpenMP's or TBB's runtime).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"

namespace ROOFTILE_API rooftile {

class ThreadPool {
 public:
  /// `threads` includes the caller: 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(i) once for each i in [0, count), in any order and from any thread of the pool, and
  /// returns when all calls have. Indices are handed out in increasing order, one at a time. The
  /// first exception is rethrown here after the rest has run. Safe to call from several threads
  /// (calls take turns) and from inside a body (runs inline).
  void run(std::int64_t count, FunctionRef<void(std::int64_t)> body);

 private:
  struct Job;
  void work();
  void announce();
  static void take_turns(Job& job);

  std::mutex callers_;  // one job at a time
  std::mutex sleep_;
  std::condition_variable wake_;
  Job* job_ = nullptr;
  // generation << 32 | open << 31 | workers inside the job. Why: a worker may join only while the
  // job is open, so a caller that finished alone need not wait for sleepers to wake.
  std::atomic<std::uint64_t> state_{0};
  std::atomic<int> sleepers_{0};  // or about to be: without any, nobody need be woken
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> workers_;
};

}  // namespace rooftile
