// SPDX-License-Identifier: Apache-2.0
// From a line to a problem: defaults, and a refusal that names the fault for every kind of bad
// input.
#include "rooftile/op/bind.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

TEST(Bind, FillsInDefaults) {
  const Problem problem = test_problem("rows=2 cols=3");
  EXPECT_EQ(problem.axis("groups"), 1);
  EXPECT_EQ(problem.dtype("x"), DType::f32);
  EXPECT_EQ(problem.dtype("y"), DType::f32);
  EXPECT_FALSE(problem.has("bias"));
  EXPECT_FALSE(problem.has("bias_scale"));
  EXPECT_EQ(problem.option("factor"), "2");
  EXPECT_EQ(problem.data, "randn");
  EXPECT_EQ(problem.seed, 0U);
  EXPECT_EQ(problem.arg("x").strides, (Dims{3, 1}));
  EXPECT_EQ(problem.text(), "scale rows=2 cols=3 groups=1 y=f32 x=f32");
}

TEST(Bind, LeavesOutAxesOfAbsentArguments) {
  OpDef op = make_test_op();
  op.axes.push_back({.name = "depth", .help = "", .default_extent = 4, .only_of = "table"});
  op.args.push_back(in("table", {"rows", "depth"}).optional());
  const auto text_of = [&](const std::string& line) {
    return bind(op, parse_problem_text("scale rows=2 cols=3" + line)).text();
  };
  EXPECT_EQ(text_of(""), "scale rows=2 cols=3 groups=1 y=f32 x=f32");
  EXPECT_EQ(text_of(" table=f32"), "scale rows=2 cols=3 groups=1 depth=4 y=f32 x=f32 table=f32");
  EXPECT_THAT(text_of(" table=f32 depth=7"), HasSubstr(" depth=7 "));
  try {
    text_of(" depth=7");
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'depth' is one of argument 'table', which is absent"));
  }
}

TEST(Bind, GivesOutputsTheDTypeOfTheirInput) {
  EXPECT_EQ(test_problem("rows=2 cols=3 x=bf16").dtype("y"), DType::bf16);
  EXPECT_EQ(test_problem("rows=2 cols=3 x=bf16 y=f32").dtype("y"), DType::f32);
  EXPECT_EQ(test_problem("rows=2 cols=3 x=half").dtype("y"), DType::fp16);
}

TEST(Bind, BringsCompanionsAlong) {
  const Problem problem = test_problem("rows=2 cols=3 bias=bf16");
  EXPECT_TRUE(problem.has("bias_scale"));
  EXPECT_EQ(problem.dtype("bias_scale"), DType::f32);
}

// The line of a result, given again, must be the same problem: records are compared by it.
class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, GivesTheSameText) {
  const std::string text = test_problem(GetParam()).text();
  const Problem again = bind(test_op(), parse_problem_text(text));
  EXPECT_EQ(again.text(), text);
}

INSTANTIATE_TEST_SUITE_P(
    Bind, RoundTrip,
    testing::Values(
        "rows=2 cols=3", "rows=0 cols=1", "rows=4k cols=2ki x=bf16",
        "rows=2 cols=4 groups=2 factor=0.1 times=-2 act=gelu data=extreme seed=99",
        "rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3",
        "rows=5 cols=33 x.stride=-40,1", "rows=5 cols=33 x.stride=0,0",
        "rows=1 cols=1 x.stride=77,99 y.stride=5,5", "rows=2 cols=3 y.alias=x",
        "rows=2 cols=3 z=f32 y.alias=z bias=f32",
        "rows=2 cols=32 codes=e2m1 codes.block=1,16 codes.scale=e4m3 codes.scale2=f32",
        "rows=2 cols=32 codes=i4 codes.block=2,8 codes.scale=bf16 codes.zero=i8",
        "rows=2 cols=32 codes=e4m3 codes.block=1,32 codes.scale=e8m0 codes.swizzle=128x4",
        "rows=2 cols=64 codes=q4_1", "rows=0 cols=512 codes=q4_k",
        "rows=2 cols=3 factor=2.0 times=1", "rows=2 cols=3 seed=9223372036854775807"));

struct Bad {
  const char* line;
  const char* message;  // a part of it
};

class BadLine : public testing::TestWithParam<Bad> {};

TEST_P(BadLine, IsRefusedByName) {
  EXPECT_THAT(refusal_of(GetParam().line), HasSubstr(GetParam().message)) << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Names, BadLine,
    testing::Values(Bad{"rows=2 cols=3 rowz=4", "unknown axis, argument or option 'rowz'"},
                    Bad{"rows=2 cols=3 rowz=4", "did you mean 'rows'"},
                    Bad{"rows=2 cols=3 q.stride=1,1", "option 'q'"},
                    Bad{"rows=2 cols=3 x.strid=1,1", "did you mean 'stride'"},
                    Bad{"rows=2 cols=3 x.=1", "attribute of 'x'"},
                    Bad{"rows=2 cols=3 rows.stride=1", "only arguments have attributes"},
                    Bad{"rows=2 cols=3 factor.stride=1", "only arguments have attributes"},
                    Bad{"rows=2 cols=3 data.kind=1", "only arguments have attributes"}));

INSTANTIATE_TEST_SUITE_P(
    Axes, BadLine,
    testing::Values(Bad{"cols=3", "axis 'rows' is missing; it needs rows, cols"},
                    Bad{"rows=2", "axis 'cols' is missing"},
                    Bad{"rows=-1 cols=3", "rows=-1: must be at least 0"},
                    Bad{"rows=2 cols=0", "cols=0: must be at least 1"},
                    Bad{"rows=x cols=3", "rows='x': expected a whole number"},
                    Bad{"rows= cols=3", "rows='': expected a whole number"},
                    Bad{"rows=1.5 cols=3", "rows='1.5': expected a whole number"},
                    Bad{"rows=281474976710657 cols=1", "at most 2^48"},
                    Bad{"rows=9223372036854775808 cols=1", "at most 2^48"},
                    Bad{"rows=281474976710656 cols=281474976710656", "does not fit in 63 bits"},
                    // The count fits, the bytes do not.
                    Bad{"rows=281474976710656 cols=8192", "does not fit in 63 bits"},
                    Bad{"rows=2 cols=3 groups=2", "groups must divide cols"}));

INSTANTIATE_TEST_SUITE_P(
    DTypes, BadLine,
    testing::Values(
        Bad{"rows=2 cols=3 x=bf17", "x='bf17' is not a dtype; allowed here: f32, bf16, fp16"},
        Bad{"rows=2 cols=3 x=", "x='' is not a dtype"},
        Bad{"rows=2 cols=3 x=e4m3", "x=e4m3: this argument takes f32, bf16, fp16"},
        Bad{"rows=2 cols=3 bias=fp16", "this argument takes f32, bf16"},
        Bad{"rows=2 cols=48 codes=q4_1",
            "argument 'codes': q4_1[2,48]: the extent with stride 1 must be a multiple of 32"},
        Bad{"rows=2 cols=64 codes=q4_1 codes.stride=80,1", "must be multiples of 32"},
        Bad{"rows=2 cols=64 codes=q4_1 codes.block=1,32 codes.scale=f32",
            "q4_1 has its scales in its blocks"},
        Bad{"rows=2 cols=3 bias_scale=f32", "goes with 'bias', which is absent"}));

INSTANTIATE_TEST_SUITE_P(
    Options, BadLine,
    testing::Values(Bad{"rows=2 cols=3 factor=x", "factor='x': expected a number"},
                    Bad{"rows=2 cols=3 factor=nan", "expected a number"},
                    Bad{"rows=2 cols=3 factor=-1", "must lie in [0, 100]"},
                    Bad{"rows=2 cols=3 factor=inf", "must lie in [0, 100]"},
                    Bad{"rows=2 cols=3 times=1.5", "times='1.5': expected a whole number"},
                    Bad{"rows=2 cols=3 times=4", "must lie in [-3, 3]"},
                    Bad{"rows=2 cols=3 act=geul", "unknown act 'geul'; did you mean 'gelu'"},
                    Bad{"rows=2 cols=3 act=", "unknown act ''"},
                    Bad{"rows=2 cols=3 data=normal", "unknown data 'normal'"},
                    Bad{"rows=2 cols=3 seed=-1",
                        "seed='-1': expected a whole number of at least 0"},
                    Bad{"rows=2 cols=3 seed=x", "seed='x'"}));

TEST(Bind, KnowsADefaultThatIsSpelledOut) {
  EXPECT_EQ(test_problem("rows=2 cols=3 factor=2.0 times=1 act=none data=randn seed=0").text(),
            test_problem("rows=2 cols=3").text());
}

// A dtype that comes from another argument must be one that this argument takes.
TEST(Bind, RefusesAnInheritedDTypeThatIsNotAllowed) {
  OpDef op = make_test_op();
  op.args[2].dtypes = {DType::f32};  // z, like x
  try {
    bind(op, parse_problem_text("scale rows=2 cols=3 x=bf16 y=f32 z=bf16"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("z=bf16: this argument takes f32"));
  }
  op.args[2].is_optional = false;
  try {
    bind(op, parse_problem_text("scale rows=2 cols=3 x=bf16 y=f32"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("z=bf16 (as 'x'): this argument takes f32"));
  }
}

}  // namespace
}  // namespace rooftile
