// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/e8m0.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rooftile/formats/fp4.h"
#include "rooftile/formats/fp6.h"
#include "rooftile/formats/fp8.h"

namespace rooftile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ScaleRounding kRoundings[] = {ScaleRounding::floor, ScaleRounding::ceil,
                                        ScaleRounding::even};

// vllm-project/vllm#46676: byte 0 is 2^-127, not 0; 255 is NaN.
TEST(E8m0, EveryCode) {
  for (int code = 0; code < 255; ++code) {
    const auto value = static_cast<float>(e8m0{static_cast<std::uint8_t>(code)});
    EXPECT_EQ(value, std::ldexp(1.0, code - 127));
    for (const ScaleRounding rounding : kRoundings) EXPECT_EQ(to_e8m0(value, rounding).bits, code);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(e8m0{255})));
  EXPECT_EQ(static_cast<float>(e8m0{0}) * 0.5, 0x1p-128);
}

TEST(E8m0, RoundsBetweenPowersOfTwo) {
  for (int code = 0; code < 254; ++code) {
    const double low = std::ldexp(1.0, code - 127), middle = 1.5 * low;
    EXPECT_EQ(to_e8m0(std::nextafter(2 * low, 0), ScaleRounding::floor).bits, code);
    EXPECT_EQ(to_e8m0(std::nextafter(low, 1e300), ScaleRounding::ceil).bits, code + 1);
    EXPECT_EQ(to_e8m0(middle).bits, code + 1);
    EXPECT_EQ(to_e8m0(std::nextafter(middle, 0)).bits, code);
    EXPECT_EQ(to_e8m0(std::nextafter(middle, 1e300)).bits, code + 1);
  }
}

TEST(E8m0, WhatIsNoScale) {
  EXPECT_EQ(to_e8m0(kNan).bits, 255);
  EXPECT_EQ(to_e8m0(-1).bits, 255);
  for (const double small : {0.0, -0.0, 5e-324, 1e-300, 0x1p-128})
    EXPECT_EQ(to_e8m0(small).bits, 0) << small;
  EXPECT_EQ(to_e8m0(0, ScaleRounding::even, Overflow::to_special).bits, 255);
  for (const double large : {0x1.8p127, 0x1p128, 1e300, static_cast<double>(kInf)}) {
    EXPECT_EQ(to_e8m0(large).bits, 254) << large;
    EXPECT_EQ(to_e8m0(large, ScaleRounding::even, Overflow::to_special).bits, 255) << large;
  }
}

// What OCP MX says, by logarithms and multiplication in double. 2^k * maximum is exact.
int wanted_code(double amax, double maximum, int emax, int mantissa_bits, ScaleRounding rounding) {
  int exponent = std::ilogb(amax) - emax;
  if (rounding == ScaleRounding::even) {
    const double place = std::ldexp(1.0, std::ilogb(amax) - mantissa_bits);
    exponent = std::ilogb(std::nearbyint(amax / place) * place) - emax;
  }
  if (rounding == ScaleRounding::ceil) {
    exponent = -127;
    while (exponent < 127 && amax > std::ldexp(maximum, exponent)) ++exponent;
  }
  return std::max(exponent, -127) + 127;
}

void check_block_scales(FloatFormat format, double maximum, int emax) {
  for (std::uint32_t word = 1; word < 0x7f800000U; word += 99991) {
    const auto amax = __builtin_bit_cast(float, word);
    for (const ScaleRounding rounding : kRoundings) {
      const int wanted = wanted_code(amax, maximum, emax, format.mantissa_bits, rounding);
      ASSERT_EQ(block_scale(amax, format, rounding).bits, wanted) << amax;
    }
  }
}

TEST(BlockScale, AsDefined) {
  check_block_scales(e4m3::kFormat, 448, 8);
  check_block_scales(e5m2::kFormat, 57344, 15);
  check_block_scales(e3m2::kFormat, 28, 4);
  check_block_scales(e2m3::kFormat, 7.5, 2);
  check_block_scales(e2m1::kFormat, 6, 2);
}

TEST(BlockScale, BoundariesOfEachRounding) {
  const FloatFormat fp4 = e2m1::kFormat, fp8 = e4m3::kFormat;
  const auto exponent = [](float amax, FloatFormat format, ScaleRounding rounding) {
    return block_scale(amax, format, rounding).bits - 127;
  };
  EXPECT_EQ(exponent(6, fp4, ScaleRounding::ceil), 0);
  EXPECT_EQ(exponent(std::nextafterf(6, 7), fp4, ScaleRounding::ceil), 1);
  EXPECT_EQ(exponent(448, fp8, ScaleRounding::ceil), 0);
  EXPECT_EQ(exponent(std::nextafterf(448, 500), fp8, ScaleRounding::ceil), 1);
  EXPECT_EQ(exponent(std::nextafterf(8, 7), fp4, ScaleRounding::floor), 0);
  EXPECT_EQ(exponent(8, fp4, ScaleRounding::floor), 1);
  EXPECT_EQ(exponent(std::nextafterf(7, 6), fp4, ScaleRounding::even), 0);
  EXPECT_EQ(exponent(7, fp4, ScaleRounding::even), 1);
  EXPECT_EQ(exponent(495.9F, fp8, ScaleRounding::even), 0);
  EXPECT_EQ(exponent(496, fp8, ScaleRounding::even), 1);
}

TEST(BlockScale, NanExactlyForWhatIsNoNumber) {
  for (const ScaleRounding rounding : kRoundings) {
    EXPECT_EQ(block_scale(kNan, e4m3::kFormat, rounding).bits, 255);
    EXPECT_EQ(block_scale(kInf, e4m3::kFormat, rounding).bits, 255);
    EXPECT_EQ(block_scale(0, e4m3::kFormat, rounding).bits, 0);
    EXPECT_EQ(block_scale(1e-45F, e4m3::kFormat, rounding).bits, 0);
    EXPECT_LT(block_scale(std::numeric_limits<float>::max(), e2m1::kFormat, rounding).bits, 255);
  }
}

}  // namespace
}  // namespace rooftile
