// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/mx.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

constexpr DType kElements[] = {DType::e4m3, DType::e5m2, DType::e3m2, DType::e2m3, DType::e2m1};
constexpr ScaleRounding kRoundings[] = {ScaleRounding::floor, ScaleRounding::ceil,
                                        ScaleRounding::even};

struct Quantised {
  std::vector<std::uint8_t> codes;
  std::vector<e8m0> scales;
  std::vector<float> back;
};

Quantised round_trip(const std::vector<float>& values, DType element, ScaleRounding rounding) {
  const auto n = static_cast<std::int64_t>(values.size());
  Quantised q;
  q.codes.assign(static_cast<std::size_t>(bytes_of(element, n)), 0xff);
  q.scales.assign((values.size() + 31) / 32, e8m0{77});
  q.back.assign(values.size(), -1);
  quantise_mx(q.codes, q.scales, values, element, rounding);
  dequantise_mx(q.back, q.codes, q.scales, element);
  return q;
}

TEST(Mx, RoundTripErrorIsHalfAStepOrSaturation) {
  const Rng rng(1, "mx");
  std::vector<float> values(1000);  // a last block of 8
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::ldexp(rng.normal(i), static_cast<int>(i / 32) * 7 - 100));
  for (const DType element : kElements) {
    for (const ScaleRounding rounding : kRoundings) {
      const Quantised q = round_trip(values, element, rounding);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double scale = static_cast<float>(q.scales[i / 32]);
        const double scaled = values[i] / scale, most = info(element).max_finite;
        const double wanted = round_to(element, scaled);
        ASSERT_EQ(q.back[i], static_cast<float>(wanted * scale));
        if (rounding == ScaleRounding::ceil) {
          ASSERT_LE(std::fabs(scaled), most);
        }
        if (std::fabs(scaled) <= most) {
          ASSERT_LE(std::fabs(scaled - wanted), ulp_of(element, scaled) / 2);
        }
      }
    }
  }
}

TEST(Mx, ZeroBlocksDecodeToZeros) {
  for (const DType element : kElements)
    for (const ScaleRounding rounding : kRoundings)
      for (const float value : round_trip(std::vector<float>(40, 0), element, rounding).back)
        ASSERT_EQ(value, 0);
}

TEST(Mx, NotANumberPoisonsItsBlockOnly) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
    for (const DType element : kElements) {
      std::vector<float> values(96, 1);
      values[40] = bad;
      const Quantised q = round_trip(values, element, ScaleRounding::floor);
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(std::isnan(q.back[i]), i / 32 == 1) << name(element) << i;
      EXPECT_EQ(q.scales[1].bits, 255);
    }
  }
}

// vllm-project/vllm#46676: scale bytes 0, 254 and 255, and no 255 from numbers near FLT_MAX.
TEST(Mx, ExtremeScales) {
  const auto decode = [](std::uint8_t scale) {
    std::array<float, 1> value{};
    const std::array<std::uint8_t, 1> code{1};  // 0.5
    const std::array scales{e8m0{scale}};
    dequantise_mx(value, code, scales, DType::e2m1);
    return value[0];
  };
  EXPECT_EQ(decode(0), 0x1p-128F);
  EXPECT_EQ(decode(254), 0x1p126F);
  EXPECT_TRUE(std::isnan(decode(255)));
  for (const DType element : kElements) {
    for (const ScaleRounding rounding : kRoundings) {
      const std::vector<float> huge(32, std::numeric_limits<float>::max());
      EXPECT_LT(round_trip(huge, element, rounding).scales[0].bits, 255);
      for (const float value : round_trip({1e-45F, -1e-40F}, element, rounding).back)
        EXPECT_LE(std::fabs(value), 1.1e-38F);
    }
  }
}

TEST(Mx, KnownBlock) {
  std::vector<float> values(32, 0);
  values[0] = 0.5;
  values[1] = 6;
  values[2] = -1;
  values[3] = 2;
  const Quantised q = round_trip(values, DType::e2m1, ScaleRounding::floor);
  EXPECT_EQ(q.scales[0].bits, 127);
  EXPECT_EQ(q.codes[0], 0x71);  // Comfy-Org/comfy-kitchen#41
  EXPECT_EQ(q.codes[1], 0x4a);
}

TEST(Mx, NothingPastTheEndIsRead) {
  std::vector<float> memory(64, 1e30F);
  for (std::size_t i = 0; i < 36; ++i) memory[i] = 1;
  const std::span<const float> values(memory.data(), 36);
  std::vector<std::uint8_t> codes(36);
  std::vector<e8m0> scales(2);
  quantise_mx(codes, scales, values, DType::e4m3);
  EXPECT_EQ(scales[1].bits, 127 - 8);
}

TEST(Mx, BadInput) {
  std::vector<std::uint8_t> codes(32);
  std::vector<e8m0> scales(1);
  const std::vector<float> values(32, 1);
  EXPECT_THROW(quantise_mx(codes, scales, values, DType::bf16), Error);
  EXPECT_THROW(quantise_mx(codes, scales, values, DType::e2m1), Error);
  EXPECT_THROW(quantise_mx(codes, {}, values, DType::e4m3), Error);
}

}  // namespace
}  // namespace rooftile
