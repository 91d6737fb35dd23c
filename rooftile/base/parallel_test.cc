// SPDX-License-Identifier: Apache-2.0
// The host's threads: every index once, whatever their number, and no failure lost.
#include "rooftile/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_threads.h"

namespace rooftile {
namespace {

TEST(Parallel, TakesEveryIndexOnce) {
  for (const int threads : {1, 2, 7})
    for (const std::size_t count : {0, 1, 2, 99, 100, 101, 1000, 12345})
      for (const std::size_t least : {0, 1, 100}) {
        const TestThreads those(threads);
        std::vector<std::atomic<int>> times(count);
        in_parallel(count, least, [&](std::size_t first, std::size_t last) {
          EXPECT_GE(last - first, std::min(least, count));
          for (std::size_t i = first; i < last; ++i) ++times[i];
        });
        for (const auto& each : times) ASSERT_EQ(each, 1) << threads << " " << count;
      }
}

TEST(Parallel, UsesAsManyThreadsAsAllowed) {
  const TestThreads three(3);
  EXPECT_EQ(default_threads(), 3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> waiting{0};
  in_parallel(12, 1, [&](std::size_t, std::size_t) {
    // Nobody takes a second range before all three have one.
    ++waiting;
    while (waiting < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Parallel, PassesAnExceptionOn) {
  for (const int threads : {1, 4}) {
    const TestThreads those(threads);
    EXPECT_THROW(for_each_element(1 << 20,
                                  [](std::size_t i) {
                                    if (i == 777777) throw std::runtime_error("here");
                                  }),
                 std::runtime_error);
  }
}

TEST(Parallel, RefusesANumberOfThreadsThatIsNone) {
  const TestThreads none(0);
  EXPECT_THROW(default_threads(), Error);
}

TEST(Parallel, ClaimsMemoryAndChangesNothing) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5000}, std::size_t{(9 << 20) + 77}}) {
    std::vector<char> memory(bytes + 100, 3);
    claim_in_parallel(memory.data() + 5, bytes);
    EXPECT_EQ(std::ranges::count(memory, 3), std::ssize(memory));
  }
}

TEST(Parallel, FindsOneByteInMillions) {
  constexpr std::size_t kBytes = (5 << 20) + 3;
  const TestThreads those(7);
  std::vector<char> a(kBytes, 1);
  std::vector<char> b(kBytes);
  fill_in_parallel(a.data(), 0x5a, kBytes);
  EXPECT_EQ(std::ranges::count(a, 0x5a), static_cast<std::ptrdiff_t>(kBytes));
  copy_in_parallel(b.data(), a.data(), kBytes);
  EXPECT_TRUE(are_equal_in_parallel(a.data(), b.data(), kBytes));
  for (const std::size_t place : {std::size_t{0}, kBytes / 3, kBytes - 1}) {
    b[place] ^= 1;
    EXPECT_FALSE(are_equal_in_parallel(a.data(), b.data(), kBytes)) << place;
    b[place] ^= 1;
  }
}

}  // namespace
}  // namespace rooftile
