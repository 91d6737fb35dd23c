// SPDX-License-Identifier: Apache-2.0
// Views and memory in a problem: strides, offsets, scales and aliases, from a line and from
// tensors.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

struct Bad {
  const char* line;     // after the axes
  const char* message;  // a part of it
};

class BadView : public testing::TestWithParam<Bad> {};

TEST_P(BadView, IsRefusedByName) {
  EXPECT_THAT(refusal_of("rows=4 cols=32 " + std::string(GetParam().line)),
              HasSubstr(GetParam().message))
      << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Strides, BadView,
    testing::Values(Bad{"x.stride=32", "x.stride=32: expected 2 numbers"},
                    Bad{"x.stride=1,2,3", "expected 2 numbers"},
                    Bad{"x.stride=", "expected 2 numbers"},
                    Bad{"x.stride=32,", "'' is not a whole number"},
                    Bad{"x.stride=a,1", "'a' is not a whole number"},
                    Bad{"x.stride=9223372036854775807,1", "offsets do not fit in 63 bits"},
                    Bad{"x.stride=2000000000000000000,1", "63 bits"},
                    Bad{"x.stride=3000000000000000000,-3000000000000000000", "63 bits"},
                    Bad{"x.offset=-1", "x.offset=-1: expected 0 to 2^20"},
                    Bad{"x.offset=1048577", "expected 0 to 2^20"},
                    Bad{"x.offset=x", "expected 0 to 2^20"},
                    Bad{"codes=e2m1 codes.stride=64,1", "packed e2m1 has no strides"},
                    Bad{"codes=i4 codes.offset=1", "packed i4 has no offset"},
                    Bad{"bias.stride=1", "'bias.stride' is given, but argument 'bias' is absent"},
                    Bad{"z.offset=1", "argument 'z' is absent"}));

INSTANTIATE_TEST_SUITE_P(
    Overlap, BadView,
    testing::Values(Bad{"y.stride=0,1",
                        "output 'y': strides [0,1] of shape [4,32] make elements overlap"},
                    Bad{"y.stride=32,0", "make elements overlap"},
                    Bad{"y.stride=31,1", "make elements overlap"},
                    Bad{"y.stride=1,1", "make elements overlap"},
                    Bad{"y.stride=1,3", "make elements overlap"},
                    Bad{"y.stride=-31,1", "make elements overlap"}));

INSTANTIATE_TEST_SUITE_P(Alias, BadView,
                         testing::Values(Bad{"y.alias=bias", "unknown y.alias 'bias'"},
                                         Bad{"y.alias=y", "unknown y.alias 'y'"},
                                         Bad{"x.alias=y", "unknown x.alias 'y'"},
                                         Bad{"y.alias=z", "must be present"},
                                         Bad{"y.alias=x y=bf16", "the same dtype"},
                                         Bad{"y.alias=x x.stride=64,1", "the same dtype"},
                                         Bad{"y.alias=x x.offset=1", "the same dtype"}));

INSTANTIATE_TEST_SUITE_P(
    Scales, BadView,
    testing::Values(Bad{"x.block=1,16 x.scale=f32", "argument 'x' takes no block scales"},
                    Bad{"x.zero=i8", "argument 'x' takes no block scales"},
                    Bad{"codes=e2m1 codes.block=1,16", "needs both codes.block and codes.scale"},
                    Bad{"codes=e2m1 codes.scale=f32", "needs both"},
                    Bad{"codes=e2m1 codes.block=16 codes.scale=f32", "expected 2 numbers"},
                    Bad{"codes=e2m1 codes.block=1,0 codes.scale=f32", "at least 1"},
                    Bad{"codes=e2m1 codes.block=1,-16 codes.scale=f32", "at least 1"},
                    Bad{"codes=e2m1 codes.block=1,16 codes.scale=q", "unknown dtype 'q'"},
                    Bad{"codes=e2m1 codes.block=1,16 codes.scale=f32 codes.swizzle=4x4",
                        "unknown codes.swizzle '4x4'"},
                    Bad{"codes.block=1,16 codes.scale=f32", "argument 'codes' is absent"}));

TEST(Views, ThatDoNotOverlapAreTaken) {
  for (const char* line : {"y.stride=1,4", "y.stride=-32,1", "y.stride=32,-1", "y.stride=100,3",
                           "x.stride=0,0", "x.stride=1,1", "x.stride=-5,0"})
    EXPECT_EQ(refusal_of("rows=4 cols=32 " + std::string(line)), "") << line;
  EXPECT_EQ(refusal_of("rows=0 cols=32 y.stride=0,0"), "") << "nothing can overlap";
  EXPECT_EQ(refusal_of("rows=1 cols=32 y.stride=0,1"), "") << "one row is its own";
}

// The stride of an extent of 1 is arbitrary and must not matter.
TEST(Views, HaveUsualStridesWhereTheExtentIsOne) {
  EXPECT_EQ(test_problem("rows=1 cols=32 x.stride=999,1").arg("x").strides, (Dims{32, 1}));
  EXPECT_EQ(test_problem("rows=4 cols=1 x.stride=1,4").arg("x").strides, (Dims{1, 1}));
  EXPECT_EQ(test_problem("rows=4 cols=1 x.stride=1,9223372036854775807").arg("x").strides,
            (Dims{1, 1}));
}

// An offset beyond 2^31 with few elements is a valid view.
TEST(Views, MayReachBeyond2To31) {
  const Problem problem = test_problem("rows=64 cols=8 x.stride=67108864,1");
  EXPECT_GT(offset_range(problem.arg("x").shape, problem.arg("x").strides).greatest,
            std::int64_t{1} << 31);
}

class Tensors : public testing::Test {
 protected:
  std::vector<TensorView> views(const TensorView& to, const TensorView& from) {
    return {to, from, {}, {}, {}, {}};
  }
  std::string refusal(const std::vector<TensorView>& given) {
    try {
      rooftile::bind(test_op(), given, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::vector<float> y_ = std::vector<float>(64);
  std::vector<float> x_ = std::vector<float>(64);
  TensorView y = TensorView::contiguous(y_.data(), DType::f32, {2, 3});
  TensorView x = TensorView::contiguous(x_.data(), DType::f32, {2, 3});
};

// What needs aligned addresses must not be chosen for others.
TEST_F(Tensors, HaveTheOffsetOfTheirAddress) {
  const auto offset_at = [&](int element, DType dtype) {
    TensorView from = TensorView::contiguous(x_.data() + element, dtype, {2, 3});
    return rooftile::bind(test_op(), views(y, from), {}).arg("x").offset;
  };
  EXPECT_EQ(offset_at(0, DType::f32), 0);
  EXPECT_EQ(offset_at(1, DType::f32), 1);
  EXPECT_EQ(offset_at(7, DType::f32), 3);
  EXPECT_EQ(offset_at(8, DType::f32), 0);
  EXPECT_EQ(offset_at(1, DType::bf16), 2);
}

TEST_F(Tensors, OfAddressesBetweenElementsAreRefused) {
  TensorView between = x;
  between.data = reinterpret_cast<char*>(x_.data()) + 2;
  EXPECT_THAT(refusal(views(y, between)),
              HasSubstr("argument 'x': its address is no multiple of the 4 bytes of f32"));
  EXPECT_THAT(refusal(views(between, x)), HasSubstr("argument 'y'"));
}

TEST_F(Tensors, PoseAProblem) {
  const std::vector<OptionValue> options{{"factor", "3"}};
  const Problem problem = rooftile::bind(test_op(), views(y, x), options);
  EXPECT_EQ(problem.axis("rows"), 2);
  EXPECT_EQ(problem.axis("cols"), 3);
  EXPECT_EQ(problem.number("factor"), 3);
  EXPECT_FALSE(problem.has("bias"));
  EXPECT_EQ(problem.arg("y").alias, "");
}

TEST_F(Tensors, ThatDisagreeAreRefused) {
  const auto shaped = [&](const Dims& shape) {
    return TensorView::contiguous(x_.data(), DType::f32, shape);
  };
  EXPECT_THAT(refusal(views(y, shaped({2, 4}))), HasSubstr("axis 'cols' is 3, but argument 'x'"));
  EXPECT_THAT(refusal(views(y, shaped({6}))),
              HasSubstr("'x' has shape [6], expected axes rows, cols"));
  EXPECT_THAT(refusal(views(y, shaped({2, 3, 1}))), HasSubstr("expected axes"));
  EXPECT_THAT(refusal(views(y, TensorView::contiguous(x_.data(), DType::i8, {2, 3}))),
              HasSubstr("x=i8: this argument takes"));
}

TEST_F(Tensors, ThatShareMemoryAreAliases) {
  EXPECT_EQ(rooftile::bind(test_op(), views(x, x), {}).arg("y").alias, "x");
  std::vector<TensorView> three = views(y, x);
  three[2] = y;
  EXPECT_EQ(rooftile::bind(test_op(), three, {}).arg("y").alias, "z");
  three[0] = x;
  three[2] = x;
  EXPECT_THAT(refusal(three), HasSubstr("output 'y' has the memory of 'z' and of 'x'"));
  std::vector<TensorView> with_bias = views(y, x);
  with_bias[3] = TensorView::contiguous(y.data, DType::f32, {3});
  with_bias[4] = TensorView::contiguous(x_.data() + 32, DType::f32, {3});
  EXPECT_THAT(refusal(with_bias), HasSubstr("y.alias 'bias'"));
}

// Scales that an operation takes no notice of would leave bare codes: an answer, and a wrong one.
TEST_F(Tensors, WithScalesAreNeverTakenForPlainOnes) {
  const float scale = 2;
  const Scaling scaling{.block = {2, 3},
                        .scale = TensorView::contiguous(&scale, DType::f32, {1, 1}),
                        .zero_point = {},
                        .second_scale = {}};
  TensorView scaled = x;
  scaled.scaling = &scaling;
  EXPECT_THAT(refusal(views(y, scaled)), HasSubstr("argument 'x' takes no block scales"));
  const std::uint8_t codes[3]{};
  std::vector<TensorView> given = views(y, x);
  given[5] = TensorView::contiguous(codes, DType::e2m1, {2, 3});
  given[5].scaling = &scaling;
  const Problem problem = rooftile::bind(test_op(), given, {});
  ASSERT_TRUE(problem.arg("codes").scaling);
  EXPECT_EQ(problem.arg("codes").scaling->block, (Dims{2, 3}));
  EXPECT_EQ(problem.arg("codes").scaling->dtype, DType::f32);
}

TEST_F(Tensors, OfNoElementsShareNothing) {
  const TensorView empty = TensorView::contiguous(x_.data(), DType::f32, {0, 3});
  EXPECT_EQ(rooftile::bind(test_op(), views(empty, empty), {}).arg("y").alias, "");
}

}  // namespace
}  // namespace rooftile
