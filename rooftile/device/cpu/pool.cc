// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/pool.h"

#include <algorithm>

namespace rooftile {
namespace {

constexpr std::uint64_t kOpen = 1ULL << 31;
constexpr std::uint64_t kInside = kOpen - 1;
constexpr int kGenerationShift = 32;
// Long enough to bridge the gap between two kernels of one token, short enough to free the core.
constexpr int kSpinsBeforeSleep = 4000;

thread_local bool is_inside_pool = false;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::Job {
  FunctionRef<void(std::int64_t)> body;
  std::int64_t count;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr failure{};
};

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(sleep_);
    stop_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::take_turns(Job& job) {
  for (;;) {
    const std::int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.count) return;
    try {
      job.body(i);
    } catch (...) {
      if (!job.has_failed.exchange(true)) job.failure = std::current_exception();
    }
  }
}

void ThreadPool::work() {
  is_inside_pool = true;
  std::uint64_t seen = 0;  // generation last joined
  const auto has_news = [&](std::uint64_t state) {
    return (state & kOpen) != 0 && (state >> kGenerationShift) != seen;
  };
  for (;;) {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    for (int spin = 0; spin < kSpinsBeforeSleep && !has_news(state) && !stop_; ++spin) {
      relax();
      state = state_.load(std::memory_order_acquire);
    }
    if (!has_news(state)) {
      std::unique_lock lock(sleep_);
      ++sleepers_;  // before the state is read again: see announce()
      wake_.wait(lock, [&] { return stop_ || has_news(state = state_.load()); });
      --sleepers_;
      if (stop_) return;
    }
    if (!state_.compare_exchange_strong(state, state + 1, std::memory_order_acq_rel)) continue;
    seen = state >> kGenerationShift;
    take_turns(*job_);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

// The lock is for sleepers alone: a worker counts itself and then reads the state, this writes the
// state and then reads the count, all in one order, so one of the two sees the other.
void ThreadPool::announce() {
  const std::uint64_t generation = (state_.load(std::memory_order_relaxed) >> kGenerationShift) + 1;
  state_.store((generation << kGenerationShift) | kOpen);
  if (sleepers_.load() == 0) return;
  {
    const std::lock_guard lock(sleep_);
  }  // until who is about to sleep does
  wake_.notify_all();
}

void ThreadPool::run(std::int64_t count, FunctionRef<void(std::int64_t)> body) {
  if (count <= 0) return;
  Job job{.body = body, .count = count};
  if (is_inside_pool || workers_.empty() || count == 1) {
    take_turns(job);
  } else {
    const std::lock_guard turn(callers_);
    job_ = &job;
    announce();
    is_inside_pool = true;
    take_turns(job);
    is_inside_pool = false;
    state_.fetch_and(~kOpen, std::memory_order_acq_rel);
    while ((state_.load(std::memory_order_acquire) & kInside) != 0) relax();
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace rooftile
