// SPDX-License-Identifier: Apache-2.0
// The comparison and its bounds: what must fail fails, in every type, and what is right passes.
#include "rooftile/op/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_threads.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

using testing::HasSubstr;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const Tolerance kHalfUlp{.ulps = 0.51};

Array array_of(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {.name = "y", .shape = {count}, .values = std::move(values)};
}

bool passes(double actual, double expected, DType dtype = DType::f32,
            const Tolerance& tolerance = kHalfUlp, Policy policy = Policy::derived) {
  return compare({actual}, array_of({expected}), dtype, tolerance, policy).passed();
}

TEST(Compare, TakesWhatIsAlsoRight) {
  Array expected = array_of({3, 4});
  expected.also_right = {{7, 8}, {}};
  const Tolerance exact{.ulps = 0};
  EXPECT_TRUE(compare({3, 4}, expected, DType::i32, exact).passed());
  EXPECT_TRUE(compare({8, 4}, expected, DType::i32, exact).passed());
  EXPECT_EQ(compare({8, 4}, expected, DType::i32, exact).max_abs_error, 0);
  EXPECT_FALSE(compare({5, 4}, expected, DType::i32, exact).passed());
  EXPECT_FALSE(compare({3, 7}, expected, DType::i32, exact).passed()) << "of another element";
}

TEST(Compare, TakesARoundedResultAndNoOther) {
  const double third = 1.0 / 3;
  for (const DType dtype : {DType::f64, DType::f32, DType::fp16, DType::bf16, DType::e4m3,
                            DType::e5m2, DType::e3m2, DType::e2m3, DType::e2m1}) {
    const double right = round_to(dtype, third);
    EXPECT_TRUE(passes(right, third, dtype)) << name(dtype);
    EXPECT_FALSE(passes(right + ulp_of(dtype, third), third, dtype)) << name(dtype);
    EXPECT_FALSE(passes(right - ulp_of(dtype, third), third, dtype)) << name(dtype);
    EXPECT_FALSE(passes(-right, third, dtype)) << name(dtype);
  }
}

TEST(Compare, FailsNaN) {
  EXPECT_FALSE(passes(kNaN, 1));
  EXPECT_FALSE(passes(kNaN, 0));
  EXPECT_FALSE(passes(kNaN, kInfinity));
  EXPECT_FALSE(passes(kNaN, 1, DType::f32, {.ulps = 1e30, .accumulated = 1e30}));
  EXPECT_FALSE(passes(kNaN, 1, DType::f32, kHalfUlp, Policy::assert_close));
  EXPECT_FALSE(passes(1, kNaN));
  EXPECT_FALSE(passes(kInfinity, kNaN));
  EXPECT_TRUE(passes(kNaN, kNaN));
}

TEST(Compare, MeetsInfinitiesExactly) {
  EXPECT_TRUE(passes(kInfinity, kInfinity));
  EXPECT_FALSE(passes(-kInfinity, kInfinity));
  EXPECT_FALSE(passes(3e38, kInfinity));
  EXPECT_FALSE(passes(kInfinity, 1));
  EXPECT_FALSE(passes(kInfinity, 3e38));
  // 70000 is infinity in fp16, and 65504 + half an ulp may go either way.
  EXPECT_TRUE(passes(kInfinity, 70000, DType::fp16));
  EXPECT_FALSE(passes(65504, 70000, DType::fp16));
  EXPECT_FALSE(passes(-kInfinity, 70000, DType::fp16));
  EXPECT_TRUE(passes(65504, 65519, DType::fp16));
  EXPECT_TRUE(passes(kInfinity, 65519.99, DType::fp16, {.ulps = 0.51}));
}

// FP8 saturates here (a named convention): beyond the range the greatest number is the right
// answer.
TEST(Compare, TakesSaturationWhereTheTypeSaturates) {
  EXPECT_TRUE(passes(448, 1e6, DType::e4m3));
  EXPECT_TRUE(passes(-448, -1e6, DType::e4m3));
  EXPECT_FALSE(passes(416, 1e6, DType::e4m3));
  EXPECT_FALSE(passes(-448, 1e6, DType::e4m3));
  EXPECT_TRUE(passes(6, 100, DType::e2m1));
  EXPECT_FALSE(passes(4, 100, DType::e2m1));
}

// One wrong element among a million, its count compared with "> 1".
TEST(Compare, NamesOneElementOfAMillion) {
  Array expected = array_of(std::vector<double>(1000000, 1e6));
  expected.shape = {1000, 1000};
  std::vector<double> actual = expected.values;
  actual[123456] += 10;
  const Comparison result =
      compare(actual, expected, DType::f32, sum_tolerance(DType::f32, DType::f32, 100));
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.num_wrong, 1);
  EXPECT_EQ(result.num_compared, 1000000);
  EXPECT_EQ(result.worst_index, 123456);
  EXPECT_EQ(result.max_abs_error, 10);
  EXPECT_THAT(result.text(expected), HasSubstr("y[123,456]: got 1000010, expected 1000000"));
  EXPECT_THAT(result.text(expected), HasSubstr("1 of 1000000 wrong"));
}

// By any number of threads: one wrong element wherever it is, and of equally wrong ones the first.
TEST(Compare, FindsAWrongElementWhereverItIs) {
  constexpr std::int64_t kCount = 700001;
  const Array expected = array_of(std::vector<double>(kCount, 1.0));
  std::vector<double> actual = expected.values;
  for (const int threads : {1, 2, 7}) {
    const TestThreads those(threads);
    EXPECT_TRUE(compare(actual, expected, DType::bf16, kHalfUlp).passed());
    for (std::int64_t place = 0; place < kCount; place += place < 9 ? 1 : 98765) {
      for (const std::int64_t wrong : {place, kCount - 1 - place, kCount - 1})
        actual[static_cast<std::size_t>(wrong)] = 1.5;
      const Comparison result = compare(actual, expected, DType::bf16, kHalfUlp);
      EXPECT_EQ(result.num_compared, kCount);
      EXPECT_EQ(result.num_wrong, place == 0 ? 2 : 3) << place;
      EXPECT_EQ(result.worst_index, std::min(place, kCount - 1 - place)) << threads;
      EXPECT_EQ(result.max_abs_error, 0.5);
      actual = expected.values;
    }
  }
}

// Zeros pass an absolute tolerance that exceeds the output.
TEST(Compare, RejectsZerosForAWideSoftmax) {
  constexpr int kCols = 393216;
  const Array expected = array_of(std::vector<double>(kCols, 1.0 / kCols));
  const std::vector<double> zeros(kCols, 0);
  for (const DType dtype : {DType::f32, DType::bf16, DType::fp16}) {
    const Comparison result =
        compare(zeros, expected, dtype, sum_tolerance(dtype, DType::f32, kCols));
    EXPECT_EQ(result.num_wrong, kCols) << name(dtype);
    EXPECT_NEAR(result.max_abs_expected, 2.54e-6, 1e-8)
        << "what makes the tolerance suspect is told";
  }
  // The table of assert_close takes them: it is not the default, and says that it shows nothing.
  const Comparison close = compare(zeros, expected, DType::f32, {}, Policy::assert_close);
  EXPECT_TRUE(close.passed());
  EXPECT_TRUE(close.takes_zeros());
  EXPECT_FALSE(compare(zeros, expected, DType::f32, sum_tolerance(DType::f32, DType::f32, kCols))
                   .takes_zeros());
}

TEST(Compare, FindsTheElementFurthestBeyondItsBound) {
  const Array expected = array_of({1, 1000, 0.001});
  const Comparison result = compare({1.001, 1000.5, 0.002}, expected, DType::f32, kHalfUlp);
  EXPECT_EQ(result.num_wrong, 3);
  EXPECT_EQ(result.worst_index, 2) << "relative to what is allowed, not the largest difference";
  EXPECT_EQ(result.max_abs_error, 0.5);
}

TEST(Compare, UsesTheMagnitudeOfTheTerms) {
  const Tolerance tolerance{.ulps = 0.5, .accumulated = 1e-6};
  Array expected = array_of({1e-3});
  EXPECT_FALSE(compare({1.5e-3}, expected, DType::f32, tolerance).passed());
  expected.magnitude = {1000};  // two large terms that cancelled
  EXPECT_TRUE(compare({1.5e-3}, expected, DType::f32, tolerance).passed());
  EXPECT_FALSE(compare({4e-3}, expected, DType::f32, tolerance).passed());
  expected.magnitude = {kNaN};
  EXPECT_FALSE(compare({99}, expected, DType::f32, tolerance).passed())
      << "no bound allows nothing";
  expected.magnitude = {kInfinity};
  EXPECT_FALSE(compare({99}, expected, DType::f32, tolerance).passed()) << "nor an infinite one";
  EXPECT_TRUE(compare({round_to(DType::f32, 1e-3)}, expected, DType::f32, tolerance).passed());
}

TEST(Compare, SaysWhenZerosWouldPassToo) {
  const auto takes = [](std::vector<double> expected, double allowed) {
    Array array = array_of(expected);
    array.magnitude.assign(expected.size(), allowed);
    return compare(expected, array, DType::fp16, {.ulps = 0, .accumulated = 1}).takes_zeros();
  };
  EXPECT_TRUE(takes({0.5, -0.25, 0}, 0.5));
  EXPECT_FALSE(takes({0.5, -0.25, 0.75}, 0.5)) << "one of them tells";
  EXPECT_FALSE(takes({0, 0}, 0.5)) << "zeros are right";
  EXPECT_FALSE(takes({1e-9}, 0)) << "it is 0 in fp16";
  EXPECT_FALSE(takes({kNaN}, 0.5));
  EXPECT_FALSE(takes({}, 0.5));
}

TEST(Compare, TakesIntegersWhole) {
  EXPECT_TRUE(passes(5, 5, DType::i32));
  EXPECT_FALSE(passes(6, 5, DType::i32, {.ulps = 100}));
  EXPECT_FALSE(passes(-1, 0, DType::i8));
}

TEST(Compare, OfNothingComparesNothing) {
  const Comparison result = compare({}, array_of({}), DType::f32, kHalfUlp);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.num_compared, 0);
  EXPECT_THROW(compare({1}, array_of({}), DType::f32, kHalfUlp), Error);
}

// torch.testing.assert_close: |actual - expected| <= atol + rtol * |expected|.
struct Close {
  DType dtype;
  double expected;
  double allowed;
};

class AssertClose : public testing::TestWithParam<Close> {};

TEST_P(AssertClose, HasTorchsTable) {
  const auto& [dtype, expected, allowed] = GetParam();
  const auto close = [&](double actual) {
    return passes(actual, expected, dtype, {.ulps = 0}, Policy::assert_close);
  };
  EXPECT_TRUE(close(expected + allowed * 0.999));
  EXPECT_TRUE(close(expected - allowed * 0.999));
  EXPECT_FALSE(close(expected + allowed * 1.001));
  EXPECT_FALSE(close(expected - allowed * 1.001));
}

INSTANTIATE_TEST_SUITE_P(Compare, AssertClose,
                         testing::Values(Close{DType::f32, 0, 1e-5},
                                         Close{DType::f32, 1024, 1e-5 + 1.3e-6 * 1024},
                                         Close{DType::fp16, 8, 1e-5 + 1e-3 * 8},
                                         Close{DType::bf16, 8, 1e-5 + 1.6e-2 * 8},
                                         Close{DType::f64, 1, 2e-7}));

// Low-precision types are compared bitwise (pytorch#150002), with what the expected value rounds
// to.
TEST(Compare, IsBitwiseForFp8UnderAssertClose) {
  for (const DType dtype : {DType::e4m3, DType::e5m2, DType::e2m1, DType::e3m2}) {
    const double right = round_to(dtype, 1.1);
    EXPECT_TRUE(passes(right, 1.1, dtype, {}, Policy::assert_close)) << name(dtype);
    EXPECT_FALSE(passes(right + ulp_of(dtype, 1.1), 1.1, dtype, {}, Policy::assert_close));
  }
}

TEST(SumTolerance, GrowsWithTheSquareRootOfTheTerms) {
  const Tolerance four = sum_tolerance(DType::bf16, DType::f32, 4);
  const Tolerance many = sum_tolerance(DType::bf16, DType::f32, 400);
  EXPECT_DOUBLE_EQ(four.accumulated, 4 * 2 * 0x1p-24);
  EXPECT_DOUBLE_EQ(many.accumulated / four.accumulated, 10);
  EXPECT_EQ(four.ulps, 0.51);
  EXPECT_EQ(sum_tolerance(DType::f32, DType::f32, 4).ulps, 1);
  EXPECT_GT(sum_tolerance(DType::f32, DType::f32, 0).accumulated, 0);
  EXPECT_THAT(many.reason, HasSubstr("400 terms accumulated in f32"));
}

// A sum in a narrower accumulator must not pass for one in f32.
TEST(SumTolerance, SeesANarrowAccumulator) {
  constexpr int kTerms = 4096;
  const Tolerance tolerance = sum_tolerance(DType::f32, DType::f32, kTerms);
  double exact = 0;
  double narrow = 0;
  float wide = 0;
  for (int i = 0; i < kTerms; ++i) {
    const double term = 1.0 / (1 + i % 7);
    exact += term;
    wide += static_cast<float>(term);
    narrow = round_to(DType::bf16, narrow + term);
  }
  EXPECT_TRUE(passes(static_cast<double>(wide), exact, DType::f32, tolerance));
  EXPECT_FALSE(passes(narrow, exact, DType::f32, tolerance));
}

TEST(Policy, IsNamed) {
  EXPECT_EQ(parse_policy("derived"), Policy::derived);
  EXPECT_EQ(parse_policy("assert_close"), Policy::assert_close);
  EXPECT_THROW(parse_policy("loose"), Error);
}

}  // namespace
}  // namespace rooftile
