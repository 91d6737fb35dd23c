// SPDX-License-Identifier: Apache-2.0
// Data: the same for the same line, other for another seed, of the kind that was asked for, and
// what the type holds.
#include "rooftile/op/generate.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "rooftile/base/test_threads.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

Values data_of(const OpDef& op, const std::string& line) {
  const Problem problem = bind(op, parse_problem_text("scale " + line));
  Values values(problem);
  generate_inputs(op, problem, values);
  return values;
}

std::vector<double> x_of(const std::string& line) { return data_of(test_op(), line)["x"].values; }

TEST(Generate, GivesTheSameDataForTheSameLine) {
  for (const char* data : {"randn", "uniform", "extreme"}) {
    const std::string line = "rows=7 cols=9 x=bf16 data=" + std::string(data);
    EXPECT_EQ(x_of(line + " seed=3"), x_of(line + " seed=3")) << data;
    EXPECT_NE(x_of(line + " seed=3"), x_of(line + " seed=4")) << data;
  }
}

TEST(Generate, GivesEveryArgumentItsOwnNumbers) {
  const Values values = data_of(test_op(), "rows=4 cols=4 z=f32");
  EXPECT_NE(values["x"].values, values["z"].values);
  EXPECT_EQ(values["y"].values, std::vector<double>(16, 0)) << "outputs are not filled";
}

TEST(Generate, GivesTheSameDataToAnyNumberOfThreads) {
  for (const char* data : {"randn", "uniform", "extreme"}) {
    const std::string line = "rows=999 cols=777 x=bf16 data=" + std::string(data);
    const TestThreads one(1);
    const std::vector<double> values = x_of(line);
    for (const int threads : {2, 7}) {
      const TestThreads those(threads);
      EXPECT_EQ(x_of(line), values) << data;
    }
  }
}

// The first row must not depend on how many follow: a problem grows without changing.
TEST(Generate, DependsOnTheIndexAlone) {
  const std::vector<double> few = x_of("rows=2 cols=8");
  const std::vector<double> many = x_of("rows=20 cols=8");
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Generate, GivesNumbersOfTheType) {
  for (const char* dtype : {"f32", "bf16", "fp16"})
    for (const char* data : {"randn", "uniform", "extreme", "zeros"}) {
      const auto values = x_of("rows=8 cols=64 x=" + std::string(dtype) + " data=" + data);
      for (const double value : values) {
        ASSERT_TRUE(std::isfinite(value)) << dtype << " " << data;
        ASSERT_EQ(value, round_to(parse_dtype(dtype), value)) << dtype << " " << data;
      }
    }
}

TEST(Generate, UniformLiesBetweenMinusOneAndOne) {
  const auto values = x_of("rows=100 cols=100 data=uniform");
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_GE(least, -1);
  EXPECT_LE(most, 1);
  EXPECT_LT(least, -0.99);
  EXPECT_GT(most, 0.99);
}

TEST(Generate, ZerosAreZeros) {
  EXPECT_EQ(x_of("rows=3 cols=3 data=zeros"), std::vector<double>(9, 0));
}

// From subnormals to near the maximum, both signs, zeros between.
TEST(Generate, ExtremeSpansTheType) {
  for (const char* name : {"f32", "bf16", "fp16"}) {
    const DTypeInfo& type = info(parse_dtype(name));
    const auto values = x_of("rows=100 cols=100 data=extreme x=" + std::string(name));
    const double smallest_normal = std::ldexp(1.0, type.min_exponent);
    int subnormals = 0;
    int zeros = 0;
    int negatives = 0;
    double most = 0;
    for (const double value : values) {
      most = std::max(most, std::abs(value));
      subnormals += value != 0 && std::abs(value) < smallest_normal ? 1 : 0;
      zeros += value == 0 ? 1 : 0;
      negatives += value < 0 ? 1 : 0;
    }
    EXPECT_GT(subnormals, 100) << name;
    EXPECT_GE(zeros, 10000 / 17) << name;
    EXPECT_NEAR(negatives, 5000, 700) << name;
    EXPECT_LE(most, type.max_finite / 4) << name;
    EXPECT_GT(most, type.max_finite / 64) << name;
  }
}

TEST(Generate, ExtremeKeepsToTheOperationsLimit) {
  OpDef op = make_test_op();
  op.extreme_limit = [](const Problem&, const ArgChoice& arg) {
    return arg.name == "z" ? 1e300 : 8.0;
  };
  const Values values = data_of(op, "rows=100 cols=100 z=f32 data=extreme");
  EXPECT_LE(std::abs(*std::ranges::max_element(values["x"].values)), 8);
  for (const double value : values["z"].values) ASSERT_TRUE(std::isfinite(value));
}

TEST(Generate, AsksTheArgumentsOwnGenerator) {
  OpDef op = make_test_op();
  op.args[2].generate = [](const Problem& problem, const Rng& rng, const Values& earlier,
                           std::vector<double>& z) {
    const std::int64_t rows = problem.axis("rows");
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = earlier["x"][static_cast<std::int64_t>(i)] + static_cast<double>(rng.below(i, rows)) +
             1e-9;
  };
  const Values values = data_of(op, "rows=5 cols=5 z=bf16 data=zeros");
  EXPECT_EQ(values["x"].values, std::vector<double>(25, 0));
  for (const double value : values["z"].values) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 5);
    EXPECT_EQ(value, round_to(DType::bf16, value)) << "a generator's values are rounded too";
  }
}

TEST(Generate, LeavesScaledDataUnrounded) {
  const Values values =
      data_of(test_op(), "rows=2 cols=32 codes=e2m1 codes.block=1,16 codes.scale=e4m3");
  int finer = 0;
  for (const double value : values["codes"].values)
    finer += value != round_to(DType::e2m1, value) ? 1 : 0;
  EXPECT_GT(finer, 50) << "storing rounds, once its scale is known";
}

}  // namespace
}  // namespace rooftile
