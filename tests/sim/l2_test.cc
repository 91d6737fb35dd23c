// SPDX-License-Identifier: Apache-2.0
// The model of L2: compulsory against repeated traffic, what an H200 wrote back, and launches that
// find what earlier ones left.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "rooftile/device/sim/l2_cache.h"
#include "rooftile/hardware/gpu.h"
#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable core_kernels;

namespace rooftile::sim_test {
namespace {

using sim::L2Cache;
using sim::L2Traffic;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLinesOfMiB = kMiB / L2Cache::kLineBytes;
constexpr unsigned kAll = 0xf;

std::uint64_t h200_bytes() { return static_cast<std::uint64_t>(find_gpu("h200").l2_bytes->value); }

L2Traffic access(L2Cache& cache, std::uint64_t line, unsigned sectors, bool is_read,
                 bool is_write) {
  const auto at = static_cast<unsigned>(line % L2Cache::kLinesOfGroup) * L2Cache::kSectorsOfLine;
  return cache.access(line / L2Cache::kLinesOfGroup, sectors << at, is_read, is_write);
}

/// Reads or writes whole lines; the sectors that DRAM saw.
L2Traffic pass(L2Cache& cache, std::uint64_t first, std::uint64_t lines, bool is_write,
               std::uint64_t stride = 1) {
  L2Traffic sum;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const L2Traffic one = access(cache, first + i * stride, kAll, !is_write, is_write);
    sum.read += one.read;
    sum.written += one.written;
  }
  return sum;
}

TEST(L2, ReadsAgainWhatWasDisplacedOnly) {
  L2Cache cache(h200_bytes());
  const std::uint64_t fits = 32 * kLinesOfMiB;
  EXPECT_EQ(pass(cache, 0, fits, false).read, fits * 4);
  EXPECT_EQ(pass(cache, 0, fits, false).read, 0u);
  cache.flush();
  EXPECT_EQ(pass(cache, 0, fits, false).read, fits * 4);
  const std::uint64_t does_not = 120 * kLinesOfMiB;
  (void)pass(cache, 0, does_not, false);
  EXPECT_GT(pass(cache, 0, does_not, false).read, does_not * 4 * 98 / 100);
}

TEST(L2, SectorsAreFetchedOneByOne) {
  L2Cache cache(kMiB);
  EXPECT_EQ(access(cache, 7, 0b0001, true, false).read, 1u);
  EXPECT_EQ(access(cache, 7, 0b0011, true, false).read, 1u);
  EXPECT_EQ(access(cache, 7, 0b0100, false, true).read, 0u);  // written whole: not fetched
  EXPECT_EQ(access(cache, 7, 0b1111, true, true).read, 1u);   // an atomic
  EXPECT_EQ(access(cache, 0, 0b1111, true, false).read, 4u);  // line 0 is a line like others
}

TEST(L2, LinesOfAGroupAreAccessedTogether) {
  L2Cache cache(kMiB);
  EXPECT_EQ(access(cache, 5, 0b0110, true, false).read, 2u);
  EXPECT_EQ(cache.access(1, 0xffff, true, false).read, 14u);
  EXPECT_EQ(pass(cache, 4, 4, false).read, 0u);
  EXPECT_EQ(cache.access(2, 0x9001, false, true).read, 0u);
  EXPECT_EQ(pass(cache, 8, 4, false).read, 13u);
}

TEST(L2, EveryDirtySectorIsWrittenOnce) {
  L2Cache cache(kMiB);
  const std::uint64_t lines = kLinesOfMiB;
  EXPECT_EQ(pass(cache, 0, lines / 4, true).written, 0u);
  EXPECT_EQ(pass(cache, 0, lines / 4, true).written, 0u);
  EXPECT_EQ(pass(cache, 1u << 20, 40 * lines, false).written, lines);  // all displaced by reads
  EXPECT_EQ(pass(cache, 1u << 21, 40 * lines, false).written, 0u);
}

TEST(L2, PowerOfTwoStridesSpread) {
  L2Cache cache(h200_bytes());
  for (const std::uint64_t stride : {32u, 512u, 4096u, 8192u}) {
    cache.flush();
    (void)pass(cache, 0, 4096, false, stride);
    EXPECT_LT(pass(cache, 0, 4096, false, stride).read, 4096 * 4 / 50) << stride;
  }
}

// Nsight Compute on an H200, caches flushed before: dram__bytes_write.sum 41,649,920 of the
// 67,108,864 bytes that rmsnorm of 4096 x 4096 floats writes, and 410,880 of a copy's 16 MiB.
TEST(L2, WritesBackWhatTheH200Does) {
  L2Cache cache(h200_bytes());
  const std::uint64_t row = 16384 / L2Cache::kLineBytes;
  L2Traffic sum;
  for (std::uint64_t r = 0; r < 4096; ++r) {
    const L2Traffic x = pass(cache, r * row, row, false);
    const L2Traffic y = pass(cache, 64 * kLinesOfMiB + r * row, row, true);
    sum.read += x.read;
    sum.written += x.written + y.written;
  }
  EXPECT_NEAR(sum.read * 32.0 / 67134720, 1, 0.01);
  EXPECT_NEAR(sum.written * 32.0 / 41649920, 1, 0.03);
  cache.flush();
  std::uint64_t copied = 0;
  for (std::uint64_t i = 0; i < 16 * kLinesOfMiB; ++i) {
    copied += pass(cache, i, 1, false).written;
    copied += pass(cache, 16 * kLinesOfMiB + i, 1, true).written;
  }
  EXPECT_LT(static_cast<double>(copied) * 32, 0.03 * 16 * kMiB);
}

TEST(L2, ThreadsLoseNothing) {
  L2Cache cache(h200_bytes());
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] { (void)pass(cache, t * kLinesOfMiB, kLinesOfMiB, false); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pass(cache, 0, 4 * kLinesOfMiB, false).read, 0u);
}

TEST(L2, LaunchesFindWhatOthersLeft) {
  using enum SimCounter;
  Simulated sim;
  const auto* from = static_cast<const float*>(sim.memory(std::vector<float>(512, 1.0f)));
  float* to = sim.memory<float>(512);
  const auto run = [&] { return sim.run(core_kernels, "reverse<0>", {{4}, {128}}, from, to); };
  const SimLaunch cold = run();
  EXPECT_EQ(cold.counters[l2_read_sectors], 64u);
  EXPECT_EQ(cold.counters[l2_read_misses], 64u);
  EXPECT_EQ(cold.counters[l2_requests], 32u);  // 16 lines read, 16 written
  EXPECT_EQ(run().counters[l2_read_misses], 0u);
  sim.device->flush_caches(*sim.stream);
  EXPECT_EQ(run().counters[l2_read_misses], 64u);
}

TEST(SimDevice, HasTheDataSheet) {
  const Simulated sim;
  EXPECT_EQ(sim.device->sheet().sheet_bytes_per_s, find_gpu("h200").dram_bytes_per_s->value);
}

}  // namespace
}  // namespace rooftile::sim_test
