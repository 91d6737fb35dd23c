// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/pool.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace rooftile {
namespace {

TEST(ThreadPool, CallsEachIndexOnce) {
  ThreadPool pool(4);
  for (const int count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    pool.run(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& call : calls) EXPECT_EQ(call, 1);
  }
}

TEST(ThreadPool, ManyShortRunsLoseNothing) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum{0};
  for (int repeat = 0; repeat < 20000; ++repeat) pool.run(5, [&](std::int64_t i) { sum += i; });
  EXPECT_EQ(sum, 20000 * 10);
}

// Each call waits for the other, so a worker that nobody wakes is found out.
TEST(ThreadPool, WakesThoseWhoSleep) {
  using Clock = std::chrono::steady_clock;
  ThreadPool pool(2);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> arrived{0};
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    pool.run(2, [&](std::int64_t) {
      ++arrived;
      while (arrived < 2 && Clock::now() < deadline) std::this_thread::yield();
    });
    ASSERT_LT(Clock::now(), deadline);
  }
}

TEST(ThreadPool, NestedRunsAreInline) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  pool.run(4, [&](std::int64_t) { pool.run(4, [&](std::int64_t) { ++calls; }); });
  EXPECT_EQ(calls, 16);
}

TEST(ThreadPool, CallersTakeTurns) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 3; ++c)
      callers.emplace_back([&] {
        for (int r = 0; r < 500; ++r) pool.run(7, [&](std::int64_t) { ++calls; });
      });
  }
  EXPECT_EQ(calls, 3 * 500 * 7);
}

TEST(ThreadPool, RethrowsAfterTheRestHasRun) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  EXPECT_THROW(pool.run(100,
                        [&](std::int64_t i) {
                          ++calls;
                          if (i == 3) throw std::runtime_error("three");
                        }),
               std::runtime_error);
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace rooftile
