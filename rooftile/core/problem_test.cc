// SPDX-License-Identifier: Apache-2.0
// A problem's line, split; its look-ups, bytes and text. (Reading a line back: op/bind_test.cc.)
#include "rooftile/core/problem.h"

#include <functional>
#include <initializer_list>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string message_of(std::string_view line) {
  try {
    parse_problem_text(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

Problem example() {
  Problem problem{.op = "norm", .axes = {{"rows", 3}, {"cols", 40}}};
  problem.args = {{.name = "y", .is_output = true, .shape = {3, 40}, .strides = {40, 1}},
                  {.name = "x", .dtype = DType::bf16, .shape = {3, 40}, .strides = {40, 1}},
                  {.name = "w", .is_present = false}};
  problem.options = {{.name = "eps", .value = "1e-06"}};
  return problem;
}

TEST(ProblemText, IsSplitIntoItsParts) {
  const ProblemText text = parse_problem_text("  norm/cpu_simd rows=4\tx=bf16 x.stride=8,1 ");
  EXPECT_EQ(text.op, "norm");
  EXPECT_EQ(text.kernel, "cpu_simd");
  EXPECT_THAT(text.assignments,
              ElementsAre(Pair("rows", "4"), Pair("x", "bf16"), Pair("x.stride", "8,1")));
  EXPECT_TRUE(parse_problem_text("norm").assignments.empty());
  EXPECT_THAT(parse_problem_text("norm x=").assignments, ElementsAre(Pair("x", "")));
  EXPECT_THAT(parse_problem_text("norm x=a=b").assignments, ElementsAre(Pair("x", "a=b")));
}

TEST(ProblemText, RefusesWhatIsNoLine) {
  EXPECT_THAT(message_of(""), HasSubstr("no problem given"));
  EXPECT_THAT(message_of(" \n"), HasSubstr("no problem given"));
  EXPECT_THAT(message_of("norm/"), HasSubstr("no kernel after the slash"));
  EXPECT_THAT(message_of("/cpu"), HasSubstr("begins with the name of an operation"));
  EXPECT_THAT(message_of("rows=4"), HasSubstr("begins with the name of an operation"));
  EXPECT_THAT(message_of("norm rows"), HasSubstr("'rows': expected name=value"));
  EXPECT_THAT(message_of("norm rows = 4"), HasSubstr("'rows': expected name=value"));
  EXPECT_THAT(message_of("norm =4"), HasSubstr("'=4': expected name=value"));
  EXPECT_THAT(message_of("norm rows=4 rows=4"), HasSubstr("'rows' is given twice"));
  EXPECT_THAT(message_of("norm x.stride=1 x.stride=2"), HasSubstr("'x.stride' is given twice"));
}

TEST(Problem, LooksUpByName) {
  const Problem problem = example();
  EXPECT_EQ(problem.axis("cols"), 40);
  EXPECT_EQ(problem.dtype("x"), DType::bf16);
  EXPECT_TRUE(problem.has("x"));
  EXPECT_FALSE(problem.has("w"));
  EXPECT_EQ(problem.option("eps"), "1e-06");
  EXPECT_EQ(problem.number("eps"), 1e-6);
}

TEST(Problem, CallsAnUndeclaredNameAnInternalError) {
  const Problem problem = example();
  for (const auto& look_up : std::initializer_list<std::function<void()>>{
           [&] { (void)problem.axis("row"); }, [&] { (void)problem.arg("z"); },
           [&] { (void)problem.option("scale"); }}) {
    try {
      look_up();
      ADD_FAILURE() << "found a name that is not there";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
    }
  }
}

TEST(Problem, WritesOnlyWhatIsNotTheDefault) {
  Problem problem = example();
  EXPECT_EQ(problem.text(), "norm rows=3 cols=40 y=f32 x=bf16");
  problem.kernel = "cpu";
  problem.options[0] = {.name = "eps", .value = "0.5", .is_default = false};
  problem.data = "zeros";
  problem.seed = 7;
  problem.args[1].offset = 3;
  problem.args[1].strides = {64, 1};
  problem.args[1].has_own_strides = true;
  problem.args[0].alias = "x";
  EXPECT_EQ(problem.text(),
            "norm/cpu rows=3 cols=40 y=f32 y.alias=x x=bf16 x.stride=64,1 x.offset=3 eps=0.5 "
            "data=zeros seed=7");
  EXPECT_EQ(problem.text(false).substr(0, 10), "norm rows=");
}

TEST(Problem, WritesScales) {
  Problem problem = example();
  problem.args[1].dtype = DType::e2m1;
  problem.args[1].scaling = ScaleChoice{.dtype = DType::e4m3,
                                        .block = {1, 16},
                                        .layout = ScaleLayout::swizzled_128x4,
                                        .zero_point = DType::i8,
                                        .second_scale = DType::f32};
  EXPECT_THAT(problem.text(),
              HasSubstr("x=e2m1 x.block=1,16 x.scale=e4m3 x.swizzle=128x4 x.zero=i8 "
                        "x.scale2=f32"));
}

TEST(ProblemBytes, CountEachElementOnce) {
  Problem problem = example();
  EXPECT_EQ(problem.bytes("y"), 3 * 40 * 4);
  EXPECT_EQ(problem.bytes("x"), 3 * 40 * 2);
  EXPECT_EQ(problem.bytes("w"), 0);
  problem.args[1].strides = {64, 1};
  EXPECT_EQ(problem.bytes("x"), 3 * 40 * 2) << "gaps need not be read";
}

// A broadcast row is one row in memory: counted three times, a right kernel beats the roof.
TEST(ProblemBytes, CountARepeatedRowOnce) {
  Problem problem = example();
  problem.args[1].strides = {0, 1};
  EXPECT_EQ(problem.bytes("x"), 40 * 2);
  problem.args[1].strides = {0, 0};
  EXPECT_EQ(problem.bytes("x"), 2);
  problem.args[1].shape = {0, 40};
  EXPECT_EQ(problem.bytes("x"), 0);
}

TEST(ProblemBytes, IncludeScales) {
  Problem problem = example();
  problem.args[1].dtype = DType::e2m1;
  problem.args[1].scaling = ScaleChoice{.dtype = DType::e4m3, .block = {1, 16}};
  EXPECT_EQ(problem.bytes("x"), 60 + 3 * 3) << "40 elements are three blocks of 16";
  problem.args[1].scaling->zero_point = DType::i8;
  problem.args[1].scaling->second_scale = DType::f32;
  EXPECT_EQ(problem.bytes("x"), 60 + 9 + 9 + 4);
  EXPECT_EQ(scale_shape({3, 40}, {2, 16}), (Dims{2, 3}));
  EXPECT_EQ(scale_shape({4, 32}, {128, 128}), (Dims{1, 1}));
  EXPECT_EQ(scale_shape({0, 32}, {1, 32}), (Dims{0, 1}));
}

}  // namespace
}  // namespace rooftile
