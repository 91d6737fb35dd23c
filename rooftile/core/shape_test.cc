// SPDX-License-Identifier: Apache-2.0
// Extents and strides in 64 bits: products that must fit, contiguity, and the offsets that a view
// reaches.
#include "rooftile/core/shape.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/core/tensor.h"

namespace rooftile {
namespace {

using testing::HasSubstr;
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k2To31 = std::int64_t{1} << 31;

void expect_range(const Dims& shape, const Dims& strides, std::int64_t least,
                  std::int64_t greatest) {
  const OffsetRange range = offset_range(shape, strides);
  EXPECT_EQ(range.least, least) << to_string(shape) << to_string(strides);
  EXPECT_EQ(range.greatest, greatest) << to_string(shape) << to_string(strides);
}

TEST(Dims, HoldAtMostEight) {
  Dims dims{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(dims.rank(), 8);
  EXPECT_THROW(dims.push_back(9), Error);
  EXPECT_EQ(dims.rank(), 8);
  EXPECT_EQ(to_string(Dims{2, -3}), "[2,-3]");
  EXPECT_EQ(to_string(Dims{}), "[]");
  EXPECT_EQ((Dims{1, 2}), (Dims{1, 2}));
  EXPECT_FALSE((Dims{1, 2}) == (Dims{1, 2, 3}));
}

TEST(CheckedProduct, RefusesOverflowByName) {
  EXPECT_EQ(checked_product({}, "x"), 1);
  EXPECT_EQ(checked_product({3, 4, 5}, "x"), 60);
  EXPECT_EQ(checked_product({kMost, 1}, "x"), kMost);
  EXPECT_EQ(checked_product({k2To31, k2To31}, "x"), std::int64_t{1} << 62);
  EXPECT_EQ(checked_product({kMost, kMost, 0}, "x"), 0);
  try {
    checked_product({k2To31, k2To31, 2}, "the elements of x");
    FAIL() << "2^63 fits in 63 bits";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the elements of x"));
  }
  EXPECT_THROW(checked_product({-1, 5}, "x"), Error);
  EXPECT_THROW(checked_product({-1, 0}, "x"), Error);
  EXPECT_THROW(checked_product({kLeast}, "x"), Error);
}

TEST(RowMajor, HasTheLastDimensionContiguous) {
  EXPECT_EQ(row_major({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major({7}), (Dims{1}));
  EXPECT_EQ(row_major({}), (Dims{}));
  EXPECT_EQ(row_major({2, 0, 4}), (Dims{4, 4, 1}));  // as if the empty extent were 1
  EXPECT_EQ(num_elements({}), 1);
  EXPECT_EQ(num_elements({3, 0}), 0);
}

TEST(Contiguity, IsRowMajorWithoutGaps) {
  EXPECT_TRUE(is_contiguous({2, 3}, {3, 1}));
  EXPECT_TRUE(is_contiguous({}, {}));
  EXPECT_FALSE(is_contiguous({2, 3}, {4, 1}));
  EXPECT_FALSE(is_contiguous({2, 3}, {1, 2}));
  EXPECT_FALSE(is_contiguous({2, 3}, {0, 1}));
  EXPECT_FALSE(is_contiguous({2, 3}, {-3, 1}));
}

// A transpose gives (1,1,2,1) strides that no kernel's check expected.
TEST(Contiguity, IgnoresStridesOfExtentOne) {
  EXPECT_TRUE(is_contiguous({1, 1, 2, 1}, {2, 1, 1, 2}));
  EXPECT_TRUE(is_contiguous({1, 1, 2, 1}, {999, -5, 1, 0}));
  EXPECT_TRUE(is_contiguous({5, 1}, {1, 5}));
  EXPECT_FALSE(is_contiguous({5, 1}, {5, 1}));
}

TEST(Contiguity, HoldsForEveryEmptyTensor) {
  EXPECT_TRUE(is_contiguous({0}, {7}));
  EXPECT_TRUE(is_contiguous({0, 3}, {1, 7}));
  EXPECT_TRUE(is_contiguous({3, 0}, {0, 0}));
  EXPECT_TRUE(is_contiguous({5, 0, 3}, {9, 9, 9}));
}

TEST(OffsetRange, FollowsSigns) {
  expect_range({}, {}, 0, 0);
  expect_range({4}, {2}, 0, 6);
  expect_range({3, 4}, {10, 1}, 0, 23);
  expect_range({3, 4}, {-10, 1}, -20, 3);
  expect_range({3, 4}, {-10, -1}, -23, 0);
  expect_range({3, 4}, {0, 1}, 0, 3);
  expect_range({1, 4}, {kMost, 1}, 0, 3);  // the stride of one row is never used
}

TEST(OffsetRange, OfNothingIsEmpty) {
  expect_range({0}, {1}, 0, -1);
  expect_range({3, 0}, {10, 1}, 0, -1);
  expect_range({3, 0}, {kMost, 1}, 0, -1);
}

// 64 x 8 elements, but offsets beyond 2^31 and 2^32.
TEST(OffsetRange, Crosses2To31) {
  expect_range({64, 8}, {67108864, 1}, 0, 63 * std::int64_t{67108864} + 7);
  EXPECT_GT(offset_range({64, 8}, {67108864, 1}).greatest, k2To31);
  expect_range({k2To31}, {1}, 0, k2To31 - 1);
  expect_range({k2To31 + 1}, {1}, 0, k2To31);
  expect_range({2, 2}, {-k2To31, -k2To31}, -2 * k2To31, 0);
}

TEST(OffsetRange, RefusesWhatDoesNotFit) {
  expect_range({2}, {kMost}, 0, kMost);
  expect_range({2}, {kLeast}, kLeast, 0);
  EXPECT_THROW(offset_range({3}, {kMost}), Error);
  EXPECT_THROW(offset_range({2, 2}, {kMost, 1}), Error);
  EXPECT_THROW(offset_range({2, 2}, {kLeast, -1}), Error);
}

TEST(Transposed, ExchangesShapeAndStrides) {
  const float data[6]{};
  const TensorView view = transposed(TensorView::contiguous(data, DType::f32, {2, 3}));
  EXPECT_EQ(view.shape, (Dims{3, 2}));
  EXPECT_EQ(view.strides, (Dims{1, 3}));
  EXPECT_EQ(view.data, data);
}

}  // namespace
}  // namespace rooftile
