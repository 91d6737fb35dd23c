// SPDX-License-Identifier: Apache-2.0
// The declaration of softmax: its meaning on inputs worked by hand, its cost, its lengths, its
// call.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/generate.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/softmax/softmax.h"

namespace rooftile {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const OpDef& op() { return *catalogue().operation("softmax").def; }

Values with_data(const std::string& line, std::vector<double> x, std::vector<double> lengths = {}) {
  const Problem problem = catalogue().bind("softmax " + line);
  Values values(problem);
  values["x"].values = std::move(x);
  if (problem.has("lengths")) values["lengths"].values = std::move(lengths);
  return values;
}

std::vector<double> meant(const std::string& line, std::vector<double> x,
                          std::vector<double> lengths = {}) {
  Values values = with_data(line, std::move(x), std::move(lengths));
  op().meaning(catalogue().bind("softmax " + line), values);
  return values["y"].values;
}

TEST(SoftmaxMeaning, IsTheShareOfEachExponential) {
  // exp: 1, 3, 4; of 8
  EXPECT_THAT(meant("rows=1 cols=3", {0, std::log(3), std::log(4)}),
              ElementsAre(DoubleEq(0.125), DoubleEq(0.375), DoubleEq(0.5)));
  EXPECT_THAT(meant("rows=2 cols=2", {7, 7, 0, 0}), Each(0.5));
  // scale 2: exp 1, 9; of 10
  EXPECT_THAT(meant("rows=1 cols=2 scale=2", {0, std::log(3)}),
              ElementsAre(DoubleEq(0.1), DoubleEq(0.9)));
  EXPECT_THAT(meant("rows=1 cols=4 scale=0", {1, 2, 3, 4}), Each(0.25));
}

TEST(SoftmaxMeaning, DoesNotOverflow) {
  EXPECT_THAT(meant("rows=1 cols=2", {1e30, 1e30}), Each(0.5));
  EXPECT_THAT(meant("rows=1 cols=2", {-1e30, 1e30}), ElementsAre(0, 1));
  EXPECT_THAT(meant("rows=1 cols=2", {-kInfinity, 5}), ElementsAre(0, 1));
}

TEST(SoftmaxMeaning, OfAnEmptyRowIsZero) {
  EXPECT_THAT(meant("rows=1 cols=3", {-kInfinity, -kInfinity, -kInfinity}), Each(0));
  EXPECT_THAT(meant("rows=1 cols=3 lengths=i32", {1, 2, 3}, {0}), Each(0));
  EXPECT_TRUE(meant("rows=3 cols=0", {}).empty());
}

TEST(SoftmaxMeaning, ClampsLengths) {
  const double x = std::log(3);
  EXPECT_THAT(
      meant("rows=4 cols=3 lengths=i32", {0, x, 9, 0, x, 9, 0, 0, 0, 0, 0, 0}, {2, 1, 99, -7}),
      ElementsAre(DoubleEq(0.25), DoubleEq(0.75), 0,  // the 9 is beyond the length
                  1, 0, 0, DoubleEq(1.0 / 3), DoubleEq(1.0 / 3), DoubleEq(1.0 / 3), 0, 0, 0));
}

TEST(SoftmaxCost, CountsByHand) {
  // 40 elements: maximum, subtract, scale, sum, normalise; one exponential each; 4 bytes in and
  // out.
  const Problem problem = catalogue().bind("softmax rows=4 cols=10 x=f32");
  const Cost cost = op().cost(problem, nullptr);
  EXPECT_EQ(cost[Unit::fp32], 200);
  EXPECT_EQ(cost[Unit::special], 40);
  EXPECT_EQ(cost.bytes_read, 160);
  EXPECT_EQ(cost.bytes_written, 160);
}

TEST(SoftmaxCost, DependsOnTheLengths) {
  const std::string line = "rows=4 cols=10 x=f32 lengths=i32";
  const Problem problem = catalogue().bind("softmax " + line);
  // 0 + 10 + 3 + 10 (clamped) = 23 elements are read; all 40 are written; four lengths of 4 bytes.
  const Values data = with_data(line, std::vector<double>(40), {0, 10, 3, 99});
  const Cost cost = op().cost(problem, &data);
  EXPECT_EQ(cost[Unit::fp32], 115);
  EXPECT_EQ(cost[Unit::special], 23);
  EXPECT_DOUBLE_EQ(cost.bytes_read, 23 * 4 + 16);
  EXPECT_EQ(cost.bytes_written, 160);
  EXPECT_EQ(op().cost(problem, nullptr)[Unit::special], 40) << "without data, the most";
}

TEST(SoftmaxLengths, AreRaggedAndReachBothEnds) {
  const Problem problem = catalogue().bind("softmax rows=500 cols=7 lengths=i32");
  Values values(problem);
  generate_inputs(op(), problem, values);
  const std::vector<double>& lengths = values["lengths"].values;
  for (const double wanted : {-1, 0, 1, 6, 7, 8}) EXPECT_THAT(lengths, testing::Contains(wanted));
  EXPECT_GE(*std::min_element(lengths.begin(), lengths.end()), -1);
  EXPECT_LE(*std::max_element(lengths.begin(), lengths.end()), 9);
}

TEST(SoftmaxCall, TakesLengthsAndWorksInPlace) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> x{0, std::log(3.0F), 9, 5, 5, 5};
  const std::vector<std::int32_t> lengths{2, 0};
  const TensorView view = TensorView::contiguous(x.data(), DType::f32, {2, 3});
  softmax(*stream, view, view, TensorView::contiguous(lengths.data(), DType::i32, {2}));
  EXPECT_THAT(x, ElementsAre(testing::FloatEq(0.25F), testing::FloatEq(0.75F), 0, 0, 0, 0));
  EXPECT_THROW(softmax(*stream, view, view, {}, {.scale = -1}), Error);
  EXPECT_THROW(
      softmax(*stream, view, view, TensorView::contiguous(lengths.data(), DType::i32, {1})), Error);
}

}  // namespace
}  // namespace rooftile
