// SPDX-License-Identifier: Apache-2.0
// Random numbers: the same everywhere, different for every seed, stream and index, and distributed
// as promised. Bounds are beyond five standard errors of the seed that is fixed here.
#include "rooftile/base/rng.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/philox.h"

namespace rooftile {
namespace {

constexpr int kDraws = 100000;

// Records name data by seed: the numbers may never change. Computed apart from this code, in
// Python.
TEST(Rng, GivesTheSameNumbersForEver) {
  EXPECT_EQ(hash_bytes("", 0), 0xcbf29ce484222325ULL);
  EXPECT_EQ(hash_bytes("a", 1), 0xaf63dc4c8601ec8cULL);  // the FNV reference's own vector
  EXPECT_EQ(Rng(7, "rmsnorm.x").bits(0), 0x87c6f3c1f1820268ULL);
  EXPECT_EQ(Rng(7, "rmsnorm.x").bits(1000), 0x5e0c8315d4ca4fd3ULL);
  EXPECT_EQ(Rng(7, "rmsnorm.x").normal(0), -0x1.9e8c37697285bp-1);
  EXPECT_EQ(Rng(7, "rmsnorm.x").normal(1000), -0x1.72772fc84e8dfp+0);
}

TEST(Rng, HasNoMemory) {
  const Rng rng(1, "x");
  const double late = rng.normal(999);
  for (std::uint64_t i = 0; i < 999; ++i) (void)rng.normal(i);
  EXPECT_EQ(rng.normal(999), late);
  EXPECT_EQ(Rng(1, "x").normal(999), late);
}

TEST(Rng, DiffersBySeedStreamAndIndex) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const char* stream : {"", "x", "y", "rmsnorm.x", "rmsnorm.w"})
      for (std::uint64_t i = 0; i < 100; ++i) seen.insert(Rng(seed, stream).bits(i));
  EXPECT_EQ(seen.size(), 20U * 5U * 100U);
}

TEST(Rng, UniformFillsItsRange) {
  const Rng rng(3, "uniform");
  double sum = 0;
  std::array<int, 10> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double value = rng.uniform(i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    ++counts[static_cast<std::size_t>(value * 10)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / std::sqrt(kDraws));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 10.0, 5 * 95);
}

TEST(Rng, BelowReachesEveryValueAndNoOther) {
  const Rng rng(4, "below");
  std::array<int, 7> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::int64_t value = rng.below(i, 7);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 7);
    ++counts[static_cast<std::size_t>(value)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7.0, 5 * 111);
  EXPECT_EQ(rng.below(12345, 1), 0);
}

TEST(Rng, NormalHasItsMoments) {
  const Rng rng(5, "normal");
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  int beyond_two = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double value = rng.normal(i);
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
    beyond_two += std::abs(value) > 2 ? 1 : 0;
  }
  const double error = 1 / std::sqrt(kDraws);
  EXPECT_NEAR(sum / kDraws, 0, 5 * error);
  EXPECT_NEAR(squares / kDraws, 1, 5 * error * std::sqrt(2.0));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * error * std::sqrt(96.0));
  EXPECT_NEAR(beyond_two, 0.0455 * kDraws, 5 * std::sqrt(0.0455 * kDraws));
}

TEST(Rng, NeighboursAreUncorrelated) {
  const Rng rng(6, "x");
  const Rng other(6, "y");
  double lag = 0;
  double streams = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    lag += rng.normal(i) * rng.normal(i + 1);
    streams += rng.normal(i) * other.normal(i);
  }
  EXPECT_NEAR(lag / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(streams / kDraws, 0, 5 / std::sqrt(kDraws));
}

// The known answers published with the generator; pytorch/pytorch#196613.
TEST(Philox, HasTheStandardsWords) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

}  // namespace
}  // namespace rooftile
