// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/parallel.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

// More ranges than threads: one that is slowed down takes fewer.
constexpr std::size_t kRangesOfThread = 4;
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("ROOFTILE_THREADS"); text != nullptr && *text != '\0') {
    const auto threads = parse_int(text);
    if (!threads || *threads < 1 || *threads > 1024)
      fail_input("ROOFTILE_THREADS='" + std::string(text) + "': expected a number from 1 to 1024");
    return static_cast<int>(*threads);
  }
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void in_parallel(std::size_t count, std::size_t least,
                 FunctionRef<void(std::size_t first, std::size_t last)> body) {
  if (count == 0) return;
  const std::size_t most_ranges = count / std::max<std::size_t>(least, 1);
  if (most_ranges <= 1) return body(0, count);
  const auto threads =
      std::min<std::size_t>(static_cast<std::size_t>(default_threads()), most_ranges);
  if (threads == 1) return body(0, count);
  const std::size_t ranges = std::min(threads * kRangesOfThread, most_ranges);
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(threads);
  const auto take_ranges = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < ranges; i = next++)
        body(count / ranges * i + std::min(i, count % ranges),
             count / ranges * (i + 1) + std::min(i + 1, count % ranges));
    } catch (...) {
      failures[thread] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread)
      others.emplace_back(take_ranges, thread);
    take_ranges(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void claim_in_parallel(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (address + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (address + bytes) / kPage * kPage;
  if (bytes < kLeastBytes || begin >= end) return;
  // Advice: where a system does not take it, touching claims the pages as ever.
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t kLargePage = 2 << 20;
  const std::uintptr_t base = begin / kLargePage * kLargePage;
  in_parallel((end - base + kLargePage - 1) / kLargePage, 4,
              [&](std::size_t first, std::size_t last) {
                const std::uintptr_t from = std::max(base + first * kLargePage, begin);
                const std::uintptr_t to = std::min(base + last * kLargePage, end);
                madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
              });
#endif
}

void copy_in_parallel(void* to, const void* from, std::size_t bytes) {
  in_parallel(bytes, kLeastBytes, [&](std::size_t first, std::size_t last) {
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                last - first);
  });
}

void fill_in_parallel(void* to, int byte, std::size_t bytes) {
  in_parallel(bytes, kLeastBytes, [&](std::size_t first, std::size_t last) {
    std::memset(static_cast<char*>(to) + first, byte, last - first);
  });
}

bool are_equal_in_parallel(const void* a, const void* b, std::size_t bytes) {
  std::atomic<bool> are_equal{true};
  in_parallel(bytes, kLeastBytes, [&](std::size_t first, std::size_t last) {
    if (std::memcmp(static_cast<const char*>(a) + first, static_cast<const char*>(b) + first,
                    last - first) != 0)
      are_equal = false;
  });
  return are_equal;
}

}  // namespace rooftile
