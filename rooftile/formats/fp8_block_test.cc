// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/fp8_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/block.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

struct Quantised {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales, back;
};

Quantised round_trip(std::span<const float> values, std::int64_t rows, std::int64_t cols,
                     const Fp8BlockOptions& options = {}) {
  Quantised q;
  q.codes.assign(values.size(), 0xff);
  q.scales.assign(static_cast<std::size_t>(num_blocks(rows, options.block_rows) *
                                           num_blocks(cols, options.block_cols)),
                  -1);
  q.back.assign(values.size(), -1);
  quantise_fp8_block(q.codes, q.scales, values, rows, cols, options);
  dequantise_fp8_block(q.back, q.codes, q.scales, rows, cols, options);
  return q;
}

std::vector<float> normals(std::size_t n) {
  const Rng rng(1, "fp8_block");
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(rng.normal(i));
  return values;
}

TEST(Fp8Block, EachTileHasItsOwnScale) {
  constexpr std::int64_t kRows = 130, kCols = 300;  // partial tiles both ways
  std::vector<float> values(kRows * kCols, 1);
  values[129 * kCols + 299] = 448;
  values[5 * kCols + 130] = 896;
  const Quantised square = round_trip(values, kRows, kCols, {.block_rows = 128});
  ASSERT_EQ(square.scales.size(), 6U);
  const std::vector<float> wanted{1 / 448.F, 2, 1 / 448.F, 1 / 448.F, 1 / 448.F, 1};
  EXPECT_EQ(square.scales, wanted);
  const Quantised rows = round_trip(values, kRows, kCols);
  ASSERT_EQ(rows.scales.size(), 130U * 3);
  EXPECT_EQ(rows.scales[5 * 3 + 1], 2);
  EXPECT_EQ(rows.scales[5 * 3 + 2], 1 / 448.F);
  EXPECT_EQ(rows.scales[129 * 3 + 2], 1);
}

// Also bitsandbytes-foundation/bitsandbytes#1160: every size of block, and no jump between sizes.
TEST(Fp8Block, RoundTripErrorForEveryTypeAndSize) {
  const std::vector<float> values = normals(8192);
  for (const DType element : {DType::e4m3, DType::e5m2, DType::e4m3fnuz, DType::e5m2fnuz}) {
    const double relative = std::ldexp(0.5, -info(element).mantissa_bits);
    double last_error = 0;
    for (const std::int64_t size : {64, 128, 256, 512, 1024, 2048, 4096, -1}) {
      const Quantised q = round_trip(values, 1, 8192, {.element = element, .block_cols = size});
      double error = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float scale = q.scales[size == -1 ? 0 : i / static_cast<std::size_t>(size)];
        const double step = scale * ulp_of(element, 0);
        const double bound = std::max(std::fabs(values[i]) * relative, step / 2) * 1.000001;
        ASSERT_LE(std::fabs(values[i] - q.back[i]), bound);
        error += std::fabs(values[i] - q.back[i]);
      }
      if (last_error > 0) {
        EXPECT_LT(error, 2 * last_error) << size;
      }
      last_error = error;
    }
  }
}

// flashinfer-ai/flashinfer#5024: 448 / amax is infinite below 1.3e-36, and 0 * infinity is NaN.
TEST(Fp8Block, TinyAmaxStaysFinite) {
  const std::vector<float> values{6.3e-38F, 0, -1e-45F, 1e-38F};
  for (const DType element : {DType::e4m3, DType::e5m2}) {
    const Quantised q = round_trip(values, 1, 4, {.element = element});
    EXPECT_EQ(q.scales[0], std::numeric_limits<float>::min());
    EXPECT_TRUE(std::isfinite(1 / q.scales[0]));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double half_step = ulp_of(element, values[i] / q.scales[0]) / 2;
      EXPECT_LE(std::fabs(q.back[i] - values[i]), q.scales[0] * half_step) << i;
    }
  }
  for (const float value : round_trip(std::vector<float>(256, 0), 2, 128).back) EXPECT_EQ(value, 0);
  const Quantised clamped = round_trip(values, 1, 4, {.least_scale = 1e-4F / 448});
  EXPECT_EQ(clamped.scales[0], 1e-4F / 448);
}

// ROCm/aiter#4291: neither row 0 nor the memory after a row matters.
TEST(Fp8Block, RowsOfFive) {
  const std::vector<float> memory{1, -2, 3, -4, 5, 1, -2, 3, -4, 5, 1e30F, 1e30F, 1e30F};
  const Quantised q = round_trip(std::span(memory).first(10), 2, 5);
  EXPECT_EQ(q.scales, (std::vector<float>{5 / 448.F, 5 / 448.F}));
}

TEST(Fp8Block, PowerOfTwoScales) {
  const std::vector<float> values{448, 449, 1, 2};
  const Quantised q = round_trip(values, 4, 1, {.power_of_two_scale = true});
  EXPECT_EQ(q.scales, (std::vector<float>{1, 2, 0x1p-8F, 0x1p-7F}));
  EXPECT_EQ(q.back, (std::vector<float>{448, 448, 1, 2}));
}

TEST(Fp8Block, NotANumberPoisonsItsTileOnly) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
    std::vector<float> values(3 * 128, 1);
    values[128] = bad;
    values[129] = 5;
    const Quantised q = round_trip(values, 3, 128);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(std::isnan(q.back[i]), i / 128 == 1) << i;
  }
}

TEST(Fp8Block, BadInput) {
  const std::vector<float> values(4, 1);
  EXPECT_THROW(round_trip(values, 1, 4, {.element = DType::bf16}), Error);
  EXPECT_THROW(round_trip(values, 1, 5), Error);
  EXPECT_THROW(round_trip(values, 1, 4, {.block_cols = 0}), Error);
  EXPECT_THROW(round_trip(values, 1, 4, {.least_scale = 0}), Error);
}

}  // namespace
}  // namespace rooftile
