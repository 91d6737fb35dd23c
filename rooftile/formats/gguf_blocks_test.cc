// SPDX-License-Identifier: Apache-2.0
// GGUF blocks: answers worked by hand from the bit diagrams, and the errors of the quantisers. That
// every bit pattern decodes as in an independent implementation is tests/formats/compare_gguf.py.
#include "rooftile/formats/gguf_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr fp16 kOne{0x3c00};
constexpr fp16 kHalf{0x3800};
constexpr fp16 kTwo{0x4000};

struct Bound {
  DType dtype;
  double of_amax;  // the greatest error, in units of the block's greatest magnitude
};

// Half a step between codes (a whole one where a value of the other sign than the greatest is cut
// off), and for the K types half a step of the scales and minima beside it.
constexpr Bound kBounds[]{{DType::q4_0, 0.126}, {DType::q4_1, 0.068},  {DType::q5_0, 0.063},
                          {DType::q5_1, 0.034}, {DType::q8_0, 0.0042}, {DType::q2_k, 0.44},
                          {DType::q3_k, 0.27},  {DType::q4_k, 0.092},  {DType::q5_k, 0.057},
                          {DType::q6_k, 0.036}};

std::vector<float> round_trip(DType dtype, const std::vector<float>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::uint8_t> blocks(static_cast<std::size_t>(bytes_of(dtype, n)) + 1, 0xa5);
  quantise_blocks(dtype, values.data(), n, blocks.data());
  EXPECT_EQ(blocks.back(), 0xa5) << name(dtype) << " wrote past its end";
  std::vector<float> back(values.size());
  dequantise_blocks(dtype, blocks.data(), n, back.data());
  return back;
}

std::vector<float> normal(std::size_t count, float factor = 1) {
  const Rng rng(1, "gguf");
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = factor * static_cast<float>(rng.normal(i));
  return values;
}

TEST(GgufBlocks, HaveTheSizesOfTheirTypes) {
  for (const Bound& bound : kBounds)
    with_block_type(bound.dtype, [&](auto block) {
      EXPECT_EQ(info(bound.dtype).unit_bytes, static_cast<int>(sizeof block)) << name(bound.dtype);
      EXPECT_EQ(info(bound.dtype).unit_elements, block.kElements) << name(bound.dtype);
    });
  EXPECT_THROW(with_block_type(DType::i4, [](auto) {}), Error);
}

TEST(GgufBlocks, Q4DecodesAsDrawn) {
  q4_0 zero{.d = kTwo, .q = {0x1f}};
  EXPECT_EQ(zero.value(0), 14);
  EXPECT_EQ(zero.value(16), -14);
  EXPECT_EQ(zero.value(1), -16);
  q4_1 one{.d = kTwo, .m = kHalf, .q = {0x1f}};
  EXPECT_EQ(one.value(0), 30.5F);
  EXPECT_EQ(one.value(16), 2.5F);
  EXPECT_EQ(one.value(31), 0.5F);
}

TEST(GgufBlocks, Q5DecodesAsDrawn) {
  q5_0 zero{.d = kTwo, .high = {0x01, 0, 0x02}, .q = {0x1f, 0x30}};
  EXPECT_EQ(zero.value(0), 30);
  EXPECT_EQ(zero.value(16), -30);
  EXPECT_EQ(zero.value(17), 6);  // bit 17: byte 2, bit 1
  q5_1 one{.d = kTwo, .m = kHalf, .high = {0x01}, .q = {0x1f}};
  EXPECT_EQ(one.value(0), 62.5F);
  EXPECT_EQ(one.value(16), 2.5F);
}

TEST(GgufBlocks, Q8DecodesAsDrawn) {
  q8_0 block{.d = kHalf, .q = {1, -128}};
  EXPECT_EQ(block.value(0), 0.5F);
  EXPECT_EQ(block.value(1), -64);
}

TEST(GgufBlocks, Q2KDecodesAsDrawn) {
  q2_k block{.scales = {}, .q = {}, .d = kTwo, .dmin = kHalf};
  block.scales[12] = 0x35;  // elements 192 to 207: scale 5, min 3
  block.q[32] = 0x24;       // elements 128, 160, 192, 224: 0, 1, 2, 0
  EXPECT_EQ(block.value(192), 2 * 5 * 2 - 1.5F);
  EXPECT_EQ(block.value(193), -1.5F);
  EXPECT_EQ(block.value(160), 0);  // its scale is 0
}

TEST(GgufBlocks, Q3KDecodesAsDrawn) {
  q3_k block{.high = {}, .q = {}, .scales = {}, .d = kTwo};
  block.scales[2] = 0x70;        // scale 10: low bits 7 …
  block.scales[10] = 0x30;       // … high bits 3: 55 - 32 = 23
  block.q[32] = 0x02;            // element 128 is of sub-block 8
  block.q[32 + 0] |= 0x03 << 2;  // element 160, of sub-block 10: low bits 3
  EXPECT_EQ(block.scale(10), 23);
  EXPECT_EQ(block.scale(8), -32);
  EXPECT_EQ(block.value(160), 2 * 23 * (3 - 4));
  block.high[0] = 1 << 5;
  EXPECT_EQ(block.value(160), 2 * 23 * (7 - 4));
  EXPECT_EQ(block.value(128), 2 * -32 * (2 - 4));
}

TEST(GgufBlocks, Q4KAndQ5KDecodeAsDrawn) {
  const KScales scales{{0x83, 0, 0, 0, 0x47, 0, 0, 0, 0x25}};
  EXPECT_EQ(scales.scale(0), 3);
  EXPECT_EQ(scales.min(0), 7);
  EXPECT_EQ(scales.scale(4), 37);
  EXPECT_EQ(scales.min(4), 18);
  q4_k four{.d = kOne, .dmin = kHalf, .scales = scales, .q = {}};
  four.q[64] = 0xf9;
  EXPECT_EQ(four.value(128), 37 * 9 - 9);
  EXPECT_EQ(four.value(0), -3.5F);
  EXPECT_EQ(four.value(160), 0);
  q5_k five{.d = kOne, .dmin = kHalf, .scales = scales, .high = {0x10}, .q = {}};
  five.q[64] = 0xf9;
  EXPECT_EQ(five.value(128), 37 * 25 - 9);
  EXPECT_EQ(five.value(129), -9);
}

TEST(GgufBlocks, Q6KDecodesAsDrawn) {
  q6_k block{.q = {}, .high = {}, .scales = {}, .d = kHalf};
  block.scales[12] = -4;  // elements 192 to 207
  block.q[64] = 0xa0;     // element 128 + 64, low bits 10
  block.high[32] = 0x20;  // high bits 2
  EXPECT_EQ(block.value(192), -2 * (42 - 32));
  EXPECT_EQ(block.value(193), -2 * -32);
}

TEST(GgufBlocks, RoundTripErrorIsBounded) {
  for (const auto& [dtype, of_amax] : kBounds) {
    const auto block = static_cast<std::size_t>(info(dtype).unit_elements);
    for (const float factor : {1.0F, 1e4F, 0.01F}) {
      const std::vector<float> values = normal(64 * 256, factor);
      const std::vector<float> back = round_trip(dtype, values);
      for (std::size_t first = 0; first < values.size(); first += block) {
        float amax = 0;
        for (std::size_t i = first; i < first + block; ++i)
          amax = std::max(amax, std::fabs(values[i]));
        for (std::size_t i = first; i < first + block; ++i)
          ASSERT_LE(std::fabs(back[i] - values[i]), of_amax * amax) << name(dtype) << ' ' << i;
      }
    }
  }
}

TEST(GgufBlocks, ZerosAndConstantsStay) {
  for (const Bound& bound : kBounds) {
    EXPECT_EQ(round_trip(bound.dtype, std::vector<float>(256, 0)), std::vector<float>(256, 0));
    for (const float value : {-3.0F, 3.0F})
      for (const float back : round_trip(bound.dtype, std::vector<float>(256, value)))
        ASSERT_NEAR(back, value, 3e-3) << name(bound.dtype);
  }
}

TEST(GgufBlocks, WhatIsNoNumberMakesItsBlockNaN) {
  for (const Bound& bound : kBounds) {
    const auto block = static_cast<std::size_t>(info(bound.dtype).unit_elements);
    for (const float bad : {kInf, -kInf, std::nanf("")}) {
      std::vector<float> values = normal(2 * block);
      values[block + 5] = bad;
      const std::vector<float> back = round_trip(bound.dtype, values);
      for (std::size_t i = 0; i < 2 * block; ++i)
        ASSERT_EQ(std::isnan(back[i]), i >= block) << name(bound.dtype) << ' ' << i;
    }
  }
}

TEST(GgufBlocks, HoldTheirGreatestNumbers) {
  for (const Bound& bound : kBounds) {
    const auto most = static_cast<float>(info(bound.dtype).max_finite);
    for (const float value : {most, -most})
      for (const float back : round_trip(bound.dtype, std::vector<float>(256, value)))
        ASSERT_NEAR(back / value, 1, 2e-3) << name(bound.dtype);
    for (const float back : round_trip(bound.dtype, std::vector<float>(256, 3e38F)))
      ASSERT_TRUE(std::isfinite(back)) << name(bound.dtype);
  }
}

TEST(GgufBlocks, ReadOneByOneAndInPart) {
  for (const Bound& bound : kBounds) {
    const std::vector<float> values = normal(512);
    std::vector<double> wide(values.begin(), values.end());
    std::vector<std::uint8_t> blocks(static_cast<std::size_t>(bytes_of(bound.dtype, 512)) + 1);
    narrow(bound.dtype, wide.data(), 512, blocks.data() + 1);  // any alignment
    std::vector<float> bulk(512, -1);
    dequantise_blocks(bound.dtype, blocks.data() + 1, 300, bulk.data());
    EXPECT_EQ(bulk[300], -1);
    for (int i = 0; i < 300; ++i)
      ASSERT_EQ(load_element(bound.dtype, blocks.data() + 1, i), bulk[static_cast<std::size_t>(i)])
          << name(bound.dtype) << ' ' << i;
  }
}

TEST(GgufBlocks, RefuseElementsAlone) {
  std::uint8_t block[256]{};
  const std::vector<double> values(40);
  EXPECT_THROW(store_element(DType::q4_0, block, 0, 1), Error);
  EXPECT_THROW(round_to(DType::q8_0, 1), Error);
  EXPECT_THROW(ulp_of(DType::q4_k, 1), Error);
  EXPECT_THROW(narrow(DType::q4_0, values.data(), 40, block), Error);
}

}  // namespace
}  // namespace rooftile
