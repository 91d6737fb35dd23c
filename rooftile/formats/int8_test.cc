// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

struct Quantised {
  std::vector<std::int8_t> codes;
  std::vector<float> scales, back;
};

Quantised round_trip(std::span<const float> values, std::int64_t group) {
  Quantised q;
  q.codes.assign(values.size(), 99);
  q.scales.assign(
      static_cast<std::size_t>(num_blocks(static_cast<std::int64_t>(values.size()), group)), -1);
  q.back.assign(values.size(), -1);
  quantise_int8(q.codes, q.scales, values, group);
  dequantise_int8(q.back, q.codes, q.scales, group);
  return q;
}

// tenstorrent/tt-metal#56526: the symmetric range ends at -127.
TEST(Int8, SymmetricRange) {
  const std::vector<float> values{-127, 127, -126.5F, 126.5F, 0.5F, 1.5F};
  const Quantised q = round_trip(values, -1);
  EXPECT_EQ(q.scales[0], 1);
  EXPECT_EQ(q.codes, (std::vector<std::int8_t>{-127, 127, -126, 126, 0, 2}));
}

// ROCm/aiter#4291, bitsandbytes-foundation/bitsandbytes#1884: only the group's own values count.
TEST(Int8, PartialGroupsAndRowZero) {
  const std::vector<float> rows{1, -2, 3, -4, 5, 1, -2, 3, -4, 5, 1e30F, 1e30F};
  const Quantised five = round_trip(std::span(rows).first(10), 5);
  EXPECT_EQ(five.scales, (std::vector<float>{5 / 127.F, 5 / 127.F}));
  std::vector<float> memory(128, 1e6F);
  for (std::size_t i = 0; i < 100; ++i) memory[i] = i < 64 ? 2 : 3;
  const Quantised tail = round_trip(std::span(memory).first(100), 64);
  EXPECT_EQ(tail.scales, (std::vector<float>{2 / 127.F, 3 / 127.F}));
}

// bitsandbytes-foundation/bitsandbytes#1160: every size of group, and no jump between sizes.
TEST(Int8, ErrorGrowsSmoothlyWithTheGroup) {
  const Rng rng(1, "int8");
  std::vector<float> values(8192);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.normal(i));
  double last_error = 0;
  for (const std::int64_t group : {64, 128, 256, 512, 1024, 2048, 4096}) {
    const Quantised q = round_trip(values, group);
    double error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float scale = q.scales[i / static_cast<std::size_t>(group)];
      ASSERT_LE(std::fabs(values[i] - q.back[i]), scale / 2 * 1.00001);
      error += std::fabs(values[i] - q.back[i]);
    }
    if (last_error > 0) {
      EXPECT_LT(error, 2 * last_error) << group;
    }
    last_error = error;
  }
}

TEST(Int8, ZerosAndWhatIsNoNumber) {
  for (const float value : round_trip(std::vector<float>(10, 0), 4).back) EXPECT_EQ(value, 0);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
    const Quantised q = round_trip(std::vector<float>{1, 1, bad, 1, 1, 1}, 2);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(std::isnan(q.back[i]), i / 2 == 1);
  }
}

TEST(Int8, BadInput) {
  std::vector<std::int8_t> codes(4);
  std::vector<float> scales(1);
  const std::vector<float> values(4, 1);
  EXPECT_THROW(quantise_int8(codes, scales, values, 0), Error);
  EXPECT_THROW(quantise_int8(codes, scales, values, -2), Error);
  EXPECT_THROW(quantise_int8(codes, scales, values, 2), Error);
}

}  // namespace
}  // namespace rooftile
