// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int4.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

constexpr Int4Kind kKinds[] = {Int4Kind::symmetric, Int4Kind::asymmetric};

struct Quantised {
  std::vector<std::uint8_t> codes, zero_points;
  std::vector<float> scales, back;
};

Quantised round_trip(std::span<const float> values, const Int4Options& options) {
  Quantised q;
  const auto n = static_cast<std::int64_t>(values.size());
  q.codes.assign((values.size() + 1) / 2, 0xff);
  q.scales.assign(static_cast<std::size_t>(num_blocks(n, options.group)), -1);
  if (options.kind == Int4Kind::asymmetric) q.zero_points.assign(q.scales.size(), 99);
  q.back.assign(values.size(), -1);
  quantise_int4(q.codes, q.scales, q.zero_points, values, options);
  dequantise_int4(q.back, q.codes, q.scales, q.zero_points, options);
  return q;
}

std::vector<float> normals(std::size_t n) {
  const Rng rng(1, "int4");
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(rng.normal(i) + 0.5);
  return values;
}

TEST(Int4, KnownCodes) {
  const std::vector<float> values{7, -7, 1, 2.5F};
  const Quantised low = round_trip(values, {});
  EXPECT_EQ(low.scales[0], 1);
  EXPECT_EQ(low.codes, (std::vector<std::uint8_t>{0x97, 0x21}));
  const Quantised high = round_trip(values, {.order = NibbleOrder::high_first});
  EXPECT_EQ(high.codes, (std::vector<std::uint8_t>{0x79, 0x12}));
  EXPECT_EQ(high.back, low.back);
  const Quantised affine =
      round_trip(std::vector<float>{-5, 10, 0, 3}, {.kind = Int4Kind::asymmetric});
  EXPECT_EQ(affine.zero_points[0], 5);
  EXPECT_EQ(affine.codes, (std::vector<std::uint8_t>{0xf0, 0x85}));
}

// bitsandbytes-foundation/bitsandbytes#1160: every size of group, and no jump between sizes.
TEST(Int4, ErrorIsHalfAStepAndGrowsSmoothly) {
  const std::vector<float> values = normals(8191);
  for (const Int4Kind kind : kKinds) {
    double last_error = 0;
    for (const std::int64_t group : {64, 128, 256, 512, 1024, 2048, 4096}) {
      const Quantised q = round_trip(values, {.group = group, .kind = kind});
      double error = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float scale = q.scales[i / static_cast<std::size_t>(group)];
        // The rounded zero point moves the line by at most another half step, at its ends.
        const double steps = kind == Int4Kind::symmetric ? 0.5 : 1.0;
        ASSERT_LE(std::fabs(values[i] - q.back[i]), scale * steps * 1.00001);
        error += std::fabs(values[i] - q.back[i]);
      }
      if (last_error > 0) {
        EXPECT_LT(error, 2 * last_error) << group;
      }
      last_error = error;
    }
  }
}

// sgl-project/sglang#37759, huggingface/text-generation-inference#2639.
TEST(Int4, GroupsThatDoNotDivideAndGroupsOfAll) {
  for (const std::size_t n : {128U, 192U, 1U}) {
    const std::vector<float> values = normals(n);
    for (const std::int64_t group : {32, 64, 128, -1, 1000}) {
      for (const Int4Kind kind : kKinds) {
        const Quantised q = round_trip(values, {.group = group, .kind = kind});
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t g = group == -1 ? 0 : i / static_cast<std::size_t>(group);
          const int code = load_nibble(q.codes.data(), static_cast<std::int64_t>(i));
          const int zero = kind == Int4Kind::symmetric ? 0 : q.zero_points.at(g);
          const int level = kind == Int4Kind::symmetric ? (code < 8 ? code : code - 16) : code;
          ASSERT_EQ(q.back[i], static_cast<float>((level - zero) * double{q.scales.at(g)}));
        }
      }
    }
  }
  const Quantised tail = round_trip(std::vector<float>(192, 7), {.group = 128});
  EXPECT_EQ(tail.scales.size(), 2U);
}

// bitsandbytes-foundation/bitsandbytes#1884: the last group's scale comes from its own 36 values.
TEST(Int4, NothingPastTheEndIsRead) {
  std::vector<float> memory(128, 1e6F);
  for (std::size_t i = 0; i < 100; ++i) memory[i] = i < 64 ? 7 : 14;
  const Quantised q = round_trip(std::span(memory).first(100), {.group = 64});
  EXPECT_EQ(q.scales, (std::vector<float>{1, 2}));
}

// vllm-project/vllm#55262: groups from GPTQ's index, not from the position.
TEST(Int4, GroupIndex) {
  const std::array<std::uint8_t, 2> codes{0x11, 0x11};
  const std::array<float, 2> scales{1, 10};
  const std::array<std::int32_t, 4> index{1, 0, 0, 1};
  std::array<float, 4> values{};
  dequantise_int4(values, codes, scales, {}, {.group = 2}, index);
  EXPECT_EQ(values, (std::array<float, 4>{10, 1, 1, 10}));
  const std::array<std::int32_t, 4> bad{1, 0, 0, 2};
  EXPECT_THROW(dequantise_int4(values, codes, scales, {}, {.group = 2}, bad), Error);
}

// vllm-project/vllm#38966: GPTQ v1 stores one less than v2; 0 - 1 must not wrap to 15.
TEST(Int4, ZeroPointStorage) {
  const std::array<std::uint8_t, 1> codes{0x88};
  const std::array<float, 1> scales{2};
  for (const auto& [stored, storage] :
       {std::pair{7, ZeroPointStorage::minus_one}, std::pair{8, ZeroPointStorage::plain}}) {
    const int meant = meant_zero_point(static_cast<std::uint8_t>(stored), storage);
    const std::array zero_points{static_cast<std::uint8_t>(meant)};
    std::array<float, 2> values{1, 1};
    dequantise_int4(values, codes, scales, zero_points, {.kind = Int4Kind::asymmetric});
    EXPECT_EQ(values, (std::array<float, 2>{0, 0}));
    EXPECT_EQ(stored_zero_point(8, storage), stored);
  }
  EXPECT_THROW(stored_zero_point(0, ZeroPointStorage::minus_one), Error);
  EXPECT_EQ(stored_zero_point(16, ZeroPointStorage::minus_one), 15);
  EXPECT_THROW(stored_zero_point(16, ZeroPointStorage::plain), Error);
}

TEST(Int4, ZerosAndWhatIsNoNumber) {
  for (const Int4Kind kind : kKinds) {
    const Quantised zeros = round_trip(std::vector<float>(9, 0), {.group = 4, .kind = kind});
    for (const float value : zeros.back) EXPECT_EQ(value, 0);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
      const Quantised q =
          round_trip(std::vector<float>{1, 1, bad, 1, 1, 1}, {.group = 2, .kind = kind});
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(std::isnan(q.back[i]), i / 2 == 1);
    }
  }
}

TEST(Int4, BadInput) {
  std::vector<std::uint8_t> codes(2), zero_points(1);
  std::vector<float> scales(1);
  const std::vector<float> values(4, 1);
  EXPECT_THROW(quantise_int4(codes, scales, zero_points, values), Error);
  EXPECT_THROW(quantise_int4(codes, scales, {}, values, {.kind = Int4Kind::asymmetric}), Error);
  EXPECT_THROW(quantise_int4(codes, scales, {}, values, {.group = 0}), Error);
  EXPECT_THROW(quantise_int4(codes, scales, {}, values, {.group = 2}), Error);
}

}  // namespace
}  // namespace rooftile
