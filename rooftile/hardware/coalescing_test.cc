// SPDX-License-Identifier: Apache-2.0
// Worked examples of sectors and lines.
#include "rooftile/hardware/coalescing.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

std::vector<std::uint64_t> addresses(const std::function<std::uint64_t(std::uint64_t)>& of_lane) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t lane = 0; lane < 32; ++lane) result.push_back(of_lane(lane));
  return result;
}

struct Example {
  const char* what;
  int bytes_per_lane;
  std::function<std::uint64_t(std::uint64_t)> of_lane;
  int sectors;
  int lines;
  double efficiency;
};

TEST(Coalescing, WorkedExamples) {
  const std::vector<Example> examples = {
      {"consecutive, 4 bytes", 4, [](auto l) { return 4 * l; }, 4, 1, 1.0},
      {"consecutive, 8 bytes", 8, [](auto l) { return 8 * l; }, 8, 2, 1.0},
      {"consecutive, 16 bytes", 16, [](auto l) { return 16 * l; }, 16, 4, 1.0},
      {"consecutive, 32 bytes", 32, [](auto l) { return 32 * l; }, 32, 8, 1.0},
      {"consecutive, 1 byte", 1, [](auto l) { return l; }, 1, 1, 1.0},
      {"reversed", 4, [](auto l) { return 4 * (31 - l); }, 4, 1, 1.0},
      {"shifted by a word", 4, [](auto l) { return 4 * l + 4; }, 5, 2, 128.0 / 160},
      {"shifted by a sector", 4, [](auto l) { return 4 * l + 32; }, 4, 2, 1.0},
      {"every second word", 4, [](auto l) { return 8 * l; }, 8, 2, 0.5},
      {"down a column of 4 KiB rows", 4, [](auto l) { return 4096 * l; }, 32, 32, 0.125},
      {"one byte a sector", 1, [](auto l) { return 32 * l; }, 32, 8, 1.0 / 32},
      {"a broadcast is a word of a sector", 4, [](auto) { return 64u; }, 1, 1, 0.125},
      {"high addresses", 4, [](auto l) { return (~0ull << 7) + 4 * l; }, 4, 1, 1.0},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.what);
    const std::vector<std::uint64_t> lanes = addresses(example.of_lane);
    const Coalescing result =
        coalescing({.lane_addresses = lanes, .bytes_per_lane = example.bytes_per_lane});
    EXPECT_EQ(result.sectors, example.sectors);
    EXPECT_EQ(result.lines, example.lines);
    EXPECT_DOUBLE_EQ(result.efficiency(), example.efficiency);
    EXPECT_EQ(result.bytes_requested, 32 * example.bytes_per_lane);
  }
}

TEST(Coalescing, InactiveLanesDoNotCount) {
  const std::vector<std::uint64_t> lanes = addresses([](auto l) { return 128 * l + (l == 3); });
  const Coalescing result = coalescing({.lane_addresses = lanes, .active = 0b11});
  EXPECT_EQ(result.active_lanes, 2);
  EXPECT_EQ(result.sectors, 2);
  const Coalescing none = coalescing({.lane_addresses = lanes, .active = 0});
  EXPECT_EQ(none.sectors, 0);
  EXPECT_EQ(none.efficiency(), 1.0);
  const Coalescing few = coalescing({.lane_addresses = std::span(lanes).first(2)});
  EXPECT_EQ(few.active_lanes, 2);
}

TEST(Coalescing, RefusesBadInput) {
  const std::vector<std::uint64_t> many(33, 0);
  const std::vector<std::uint64_t> odd(32, 2);
  EXPECT_THROW(coalescing({.lane_addresses = many}), Error);
  EXPECT_THROW(coalescing({.lane_addresses = odd, .bytes_per_lane = 4}), Error);
  EXPECT_NO_THROW(coalescing({.lane_addresses = odd, .bytes_per_lane = 2}));
  for (const int width : {0, -4, 3, 12, 64})
    EXPECT_THROW(coalescing({.lane_addresses = odd, .bytes_per_lane = width}), Error) << width;
}

}  // namespace
}  // namespace rooftile
