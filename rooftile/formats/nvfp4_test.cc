// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/nvfp4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"

namespace rooftile {
namespace {

struct Quantised {
  float tensor_scale;
  std::vector<std::uint8_t> codes;
  std::vector<e4m3> scales;
  std::vector<float> back;
};

Quantised round_trip(const std::vector<float>& values) {
  Quantised q{nvfp4_tensor_scale(values), {}, {}, {}};
  q.codes.assign((values.size() + 1) / 2, 0xff);
  q.scales.assign((values.size() + 15) / 16, e4m3{0x55});
  q.back.assign(values.size(), -1);
  quantise_nvfp4(q.codes, q.scales, values, q.tensor_scale);
  dequantise_nvfp4(q.back, q.codes, q.scales, q.tensor_scale);
  return q;
}

TEST(Nvfp4, TheGreatestBlockUsesTheGreatestScale) {
  std::vector<float> values(32, 1);
  values[20] = 2688;
  const Quantised q = round_trip(values);
  EXPECT_EQ(q.tensor_scale, 1);
  EXPECT_EQ(q.scales[1].bits, 0x7e);
  EXPECT_EQ(static_cast<float>(q.scales[0]), 0.171875F);  // 1/6 in e4m3
  EXPECT_EQ(q.back[20], 2688);
}

TEST(Nvfp4, RoundTripErrorIsBounded) {
  const Rng rng(1, "nvfp4");
  std::vector<float> values(1003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.normal(i));
  const Quantised q = round_trip(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float amax = 0;
    for (std::size_t j = i / 16 * 16; j < std::min(i / 16 * 16 + 16, values.size()); ++j)
      amax = std::max(amax, std::fabs(values[j]));
    // Half of the widest step, 4 to 6, and what a scale rounded down by 1/16 can cut off.
    ASSERT_LE(std::fabs(values[i] - q.back[i]), amax / 6 * (1 + 1 / 16.0));
    ASSERT_LE(q.scales[i / 16].bits, 0x7e);
  }
}

// NVIDIA/Model-Optimizer#1397: no NaN scale, whatever stands beside a zero block.
TEST(Nvfp4, ZeroBlockBesideASmallOne) {
  std::vector<float> values(32, 0);
  values[16] = 1e-3F;
  const Quantised q = round_trip(values);
  EXPECT_LE(q.scales[0].bits, 0x7e);
  EXPECT_LE(q.scales[1].bits, 0x7e);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(q.back[i], 0);
  EXPECT_NEAR(q.back[16], 1e-3, 1e-9);
  for (const float value : round_trip(std::vector<float>(20, 0)).back) EXPECT_EQ(value, 0);
}

TEST(Nvfp4, BlocksTooSmallAndTensorsTooSmallStayFinite) {
  std::vector<float> values(32, 1e-20F);
  values[0] = 1;
  const Quantised q = round_trip(values);
  for (std::size_t i = 16; i < 32; ++i) EXPECT_EQ(q.back[i], 0);
  for (std::size_t i = 8; i < 16; ++i) EXPECT_EQ(q.codes[i], 0);
  for (const float value : round_trip(std::vector<float>(32, 1e-44F)).back)
    EXPECT_TRUE(std::fabs(value) < 1e-39F);
  const float most = std::numeric_limits<float>::max();
  for (const float value : round_trip(std::vector<float>(16, most)).back)
    EXPECT_NEAR(value / most, 1, 1e-6);
}

TEST(Nvfp4, NotANumberPoisonsItsBlockOnly) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
    std::vector<float> values(48, 1);
    values[17] = bad;
    const Quantised q = round_trip(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(std::isnan(q.back[i]), i / 16 == 1) << i;
  }
}

TEST(Nvfp4, BadInput) {
  std::vector<std::uint8_t> codes(8);
  std::vector<e4m3> scales(1);
  const std::vector<float> values(16, 1);
  for (const float bad : {0.F, -1.F, HUGE_VALF, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THROW(quantise_nvfp4(codes, scales, values, bad), Error);
  EXPECT_THROW(quantise_nvfp4(codes, {}, values, 1), Error);
}

}  // namespace
}  // namespace rooftile
