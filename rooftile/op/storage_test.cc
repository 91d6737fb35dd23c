// SPDX-License-Identifier: Apache-2.0
// Between doubles and memory: strided, packed and block-scaled tensors, and what lies between.
#include "rooftile/op/storage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_threads.h"
#include "rooftile/core/problem.h"
#include "rooftile/formats/element.h"
#include "rooftile/formats/scale_layout.h"

namespace rooftile {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<double> normal(std::int64_t count) {
  const Rng rng(1, "storage");
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rng.normal(i);
  return values;
}

std::vector<double> loaded(const TensorView& view) {
  std::vector<double> values;
  load_view(view, values);
  return values;
}

TEST(Storage, HoldsEveryTypeExactly) {
  for (const DTypeInfo& type : dtypes()) {
    if (type.is_block()) continue;  // below
    std::vector<double> values = normal(3 * 5);
    for (double& value : values)
      value = round_to(type.dtype, type.kind == DTypeKind::scale ? 2 : value);
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(bytes_of(type.dtype, 15)) + 1, 0xab);
    const TensorView view = TensorView::contiguous(memory.data(), type.dtype, {3, 5});
    store_view(values, view);
    EXPECT_EQ(loaded(view), values) << type.name;
    EXPECT_EQ(memory.back(), 0xab) << type.name << " wrote past its end";
  }
}

// Large tensors, by any number of threads: in one piece, in rows, transposed, in nibbles whose rows
// share a byte, in blocks. Where rows share all their memory the last is what stays.
TEST(Storage, HoldsLargeTensorsByAnyNumberOfThreads) {
  struct Large {
    DType dtype;
    Dims shape, strides;
  };
  const Large cases[] = {{DType::bf16, {700, 512}, {512, 1}}, {DType::fp16, {700, 500}, {512, 1}},
                         {DType::f32, {700, 500}, {1, 701}},  {DType::e4m3, {300, 500}, {1100, 2}},
                         {DType::i4, {700, 511}, {511, 1}},   {DType::e2m3, {700, 512}, {516, 1}},
                         {DType::q4_0, {300, 512}, {512, 1}}, {DType::q8_0, {512, 300}, {1, 512}},
                         {DType::bf16, {1000, 300}, {0, 1}}};
  for (const Large& each : cases) {
    const std::int64_t count = num_elements(each.shape);
    const std::int64_t span = offset_range(each.shape, each.strides).greatest + 1;
    const std::int64_t unit = info(each.dtype).unit_elements;
    const auto bytes =
        static_cast<std::size_t>(bytes_of(each.dtype, (span + unit - 1) / unit * unit));
    std::vector<std::uint8_t> first;
    std::vector<double> first_values;
    for (const int threads : {1, 2, 7}) {
      const TestThreads those(threads);
      std::vector<std::uint8_t> memory(bytes, 0xab);
      const TensorView view{
          .data = memory.data(), .dtype = each.dtype, .shape = each.shape, .strides = each.strides};
      store_view(normal(count), view);
      const std::vector<double> values = loaded(view);
      if (first.empty()) {
        first = memory;
        first_values = values;
        const std::vector<double> exact = normal(count);
        for (std::int64_t i = 0; i < count && unit < 32; i += 97) {
          const std::int64_t row = each.strides[0] == 0 ? each.shape[0] - 1 : i / each.shape[1];
          const double want =
              exact[static_cast<std::size_t>(row * each.shape[1] + i % each.shape[1])];
          ASSERT_EQ(values[static_cast<std::size_t>(i)], round_to(each.dtype, want));
        }
      }
      EXPECT_EQ(memory, first) << info(each.dtype).name << " " << threads;
      EXPECT_EQ(values, first_values) << info(each.dtype).name << " " << threads;
    }
  }
}

TEST(Storage, FollowsStridesAndTouchesNothingElse) {
  std::vector<float> memory(40, -1);
  TensorView view{
      .data = memory.data() + 5, .dtype = DType::f32, .shape = {3, 2}, .strides = {10, 3}};
  store_view({1, 2, 3, 4, 5, 6}, view);
  EXPECT_EQ(memory[5], 1);
  EXPECT_EQ(memory[8], 2);
  EXPECT_EQ(memory[15], 3);
  EXPECT_EQ(memory[28], 6);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0F), 34);
  EXPECT_THAT(loaded(view), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Storage, FollowsNegativeAndZeroStrides) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  const TensorView reversed{
      .data = memory.data() + 5, .dtype = DType::f32, .shape = {2, 3}, .strides = {-3, -1}};
  EXPECT_THAT(loaded(reversed), ElementsAre(6, 5, 4, 3, 2, 1));
  const TensorView repeated{
      .data = memory.data(), .dtype = DType::f32, .shape = {2, 3}, .strides = {0, 1}};
  EXPECT_THAT(loaded(repeated), ElementsAre(1, 2, 3, 1, 2, 3));
  const TensorView one{
      .data = memory.data() + 1, .dtype = DType::f32, .shape = {2, 2}, .strides = {0, 0}};
  EXPECT_THAT(loaded(one), Each(2));
}

TEST(Storage, TakesScalarsAndNothing) {
  float memory = 7;
  EXPECT_THAT(loaded(TensorView::contiguous(&memory, DType::f32, {})), ElementsAre(7));
  store_view({9}, TensorView::contiguous(&memory, DType::f32, {}));
  EXPECT_EQ(memory, 9);
  const TensorView empty = TensorView::contiguous(&memory, DType::f32, {3, 0});
  store_view({}, empty);
  EXPECT_TRUE(loaded(empty).empty());
  EXPECT_EQ(memory, 9);
  EXPECT_THROW(store_view({1, 2}, empty), Error);
}

TEST(Storage, PacksNibblesLowFirst) {
  std::uint8_t memory[2]{0xff, 0xf0};
  const TensorView view = TensorView::contiguous(memory, DType::u4, {3});
  store_view({1, 2, 3}, view);
  EXPECT_EQ(memory[0], 0x21);
  EXPECT_EQ(memory[1], 0xf3) << "the nibble that belongs to no element stays";
  // Rows of an odd length share a byte.
  std::uint8_t rows[3]{};
  store_view({1, 2, 3, 4, 5, 6}, TensorView::contiguous(rows, DType::u4, {2, 3}));
  EXPECT_THAT(rows, ElementsAre(0x21, 0x43, 0x65));
}

TEST(Storage, HoldsBlocks) {
  for (const DTypeInfo& type : dtypes()) {
    if (!type.is_block()) continue;
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(bytes_of(type.dtype, 3 * 512)) + 1,
                                     0xab);
    const TensorView view = TensorView::contiguous(memory.data(), type.dtype, {3, 512});
    const std::vector<double> values = normal(3 * 512);
    store_view(values, view);
    const std::vector<double> back = loaded(view);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(back[i], values[i], 1.8) << type.name << ' ' << i;
    EXPECT_EQ(memory.back(), 0xab) << type.name << " wrote past its end";
    // The second row alone, by its address and as every other row.
    TensorView rows = view;
    rows.data = memory.data() + bytes_of(type.dtype, 512);
    rows.shape = {2, 256};
    EXPECT_TRUE(std::equal(back.begin() + 512, back.begin() + 768, loaded(rows).begin()));
    EXPECT_TRUE(std::equal(back.begin() + 1024, back.begin() + 1280, loaded(rows).begin() + 256));
    const std::vector<double> flipped =
        loaded(transposed(view));  // [512, 3], blocks along the first
    for (std::size_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(flipped[i % 512 * 3 + i / 512], back[i]) << type.name << ' ' << i;
    std::vector<std::uint8_t> again(memory.size(), 0xab);
    TensorView copy = view;
    copy.data = again.data();
    std::vector<double> values_flipped(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values_flipped[i % 512 * 3 + i / 512] = values[i];
    store_view(values_flipped, transposed(copy));
    EXPECT_EQ(again, memory) << type.name;
    rows.shape = {2, 250};
    EXPECT_THROW(store_view(std::vector<double>(500), rows), Error);
  }
}

// Memory for a block-scaled tensor.
struct Scaled {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  std::vector<std::int8_t> zeros;
  float second = 0;
  Scaling scaling;
  TensorView view;

  Scaled(const Dims& shape, DType dtype, const Dims& block, DType scale, bool has_zero = false,
         bool has_second = false, ScaleLayout layout = ScaleLayout::row_major) {
    const Dims blocks = scale_shape(shape, block);
    codes.resize(static_cast<std::size_t>(bytes_of(dtype, num_elements(shape))));
    scales.resize(static_cast<std::size_t>(layout == ScaleLayout::row_major
                                               ? bytes_of(scale, num_elements(blocks))
                                               : swizzled_scale_bytes(blocks[0], blocks[1])));
    zeros.resize(static_cast<std::size_t>(num_elements(blocks)), 99);
    scaling.block = block;
    scaling.scale = TensorView::contiguous(scales.data(), scale, blocks);
    scaling.layout = layout;
    if (has_zero) scaling.zero_point = TensorView::contiguous(zeros.data(), DType::i8, blocks);
    if (has_second) scaling.second_scale = TensorView::contiguous(&second, DType::f32, {1});
    view = TensorView::contiguous(codes.data(), dtype, shape);
    view.scaling = &scaling;
  }
  Scaled(const Scaled&) = delete;
  Scaled& operator=(const Scaled&) = delete;
};

TEST(ScaledStorage, ErrsByHalfAStepOfEachBlock) {
  Scaled scaled({4, 40}, DType::i8, {1, 16}, DType::f32);
  std::vector<double> values = normal(160);
  for (int i = 0; i < 40; ++i) values[static_cast<std::size_t>(i)] *= 1000;  // the first row
  store_view(values, scaled.view);
  const std::vector<double> back = loaded(scaled.view);
  for (std::size_t i = 0; i < 160; ++i) {
    const double amax = i < 40 ? 4000 : 4;
    EXPECT_NEAR(back[i], values[i], amax / 127 * 0.51) << i;
  }
}

TEST(ScaledStorage, TakesPowersOfTwoUpward) {
  Scaled scaled({1, 32}, DType::e4m3, {1, 32}, DType::e8m0);
  std::vector<double> values(32, 1.0);
  values[7] = 449;  // a hair too much for scale 1
  store_view(values, scaled.view);
  EXPECT_EQ(load_element(DType::e8m0, scaled.scales.data(), 0), 2);
  EXPECT_EQ(loaded(scaled.view)[0], 1);
  EXPECT_EQ(loaded(scaled.view)[7], 448);
}

TEST(ScaledStorage, GivesZerosScaleOne) {
  Scaled scaled({1, 32}, DType::e2m1, {1, 16}, DType::e4m3);
  store_view(std::vector<double>(32, 0), scaled.view);
  EXPECT_THAT(loaded(scaled.view), Each(0));
  EXPECT_EQ(load_element(DType::e4m3, scaled.scales.data(), 0), 1);
}

TEST(ScaledStorage, HasASecondScale) {
  Scaled scaled({2, 32}, DType::e2m1, {1, 16}, DType::e4m3, false, true);
  std::vector<double> values = normal(64);
  for (double& value : values) value *= 1e6;  // beyond 448 * 6
  store_view(values, scaled.view);
  EXPECT_GT(scaled.second, 1);
  const std::vector<double> back = loaded(scaled.view);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(back[i], values[i], 4e6 / 6 * 1.1) << i;
  EXPECT_GT(std::abs(back[0] + back[1] + back[2]), 0);
}

// With a zero point an unsigned type holds both signs; without, half of the data would be lost.
TEST(ScaledStorage, ChoosesZeroPointsThatAreNotZero) {
  Scaled scaled({2, 64}, DType::u4, {1, 32}, DType::f32, true);
  std::vector<double> values = normal(128);
  for (std::size_t i = 0; i < 32; ++i)
    values[i] = std::abs(values[i]) + 1;  // a block without a sign
  store_view(values, scaled.view);
  EXPECT_EQ(scaled.zeros[0], 0) << "0 has a code of its own even where all values are above it";
  EXPECT_GT(scaled.zeros[1], 3);
  EXPECT_LT(scaled.zeros[1], 12);
  const std::vector<double> back = loaded(scaled.view);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(back[i], values[i], 0.3) << i;
  EXPECT_LT(*std::min_element(back.begin(), back.end()), -1);
}

TEST(ScaledStorage, ReadsByTheFormula) {
  Scaled scaled({1, 4}, DType::i4, {1, 2}, DType::f32, true, true);
  const float scales[2]{0.5F, 4.0F};
  std::memcpy(scaled.scales.data(), scales, sizeof scales);
  scaled.zeros = {1, -2};
  scaled.second = 10;
  scaled.scaling.zero_point.data = scaled.zeros.data();
  store_view({3, -4, 7, 0}, TensorView::contiguous(scaled.codes.data(), DType::i4, {1, 4}));
  // (code - zero) * scale * second
  EXPECT_THAT(loaded(scaled.view), ElementsAre(10, -25, 360, 80));
}

TEST(ScaledStorage, SwizzlesScalesAsTensorCoresReadThem) {
  Scaled plain({200, 160}, DType::e4m3, {1, 32}, DType::e8m0);
  Scaled swizzled({200, 160}, DType::e4m3, {1, 32}, DType::e8m0, false, false,
                  ScaleLayout::swizzled_128x4);
  std::vector<double> values = normal(200 * 160);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] *= std::exp2(static_cast<double>(i / 160 % 30));
  store_view(values, plain.view);
  store_view(values, swizzled.view);
  EXPECT_EQ(loaded(swizzled.view), loaded(plain.view));
  EXPECT_EQ(swizzled.codes, plain.codes);
  EXPECT_NE(swizzled.scales, plain.scales);
  for (int row = 0; row < 200; ++row)
    for (int col = 0; col < 5; ++col)
      ASSERT_EQ(swizzled.scales[static_cast<std::size_t>(swizzled_scale_offset(row, col, 5))],
                plain.scales[static_cast<std::size_t>(row * 5 + col)]);
}

// No scale is computed over padding: a block's scale is of its own values.
TEST(ScaledStorage, KeepsBlocksApart) {
  Scaled scaled({2, 2}, DType::i8, {1, 2}, DType::f32);
  store_view({1, 1, 1000, 1000}, scaled.view);
  EXPECT_NEAR(load_element(DType::f32, scaled.scales.data(), 0), 1.0 / 127, 1e-9);
  EXPECT_NEAR(loaded(scaled.view)[0], 1, 1e-6);
}

}  // namespace
}  // namespace rooftile
