// SPDX-License-Identifier: Apache-2.0
// The declaration of rmsnorm: its meaning on inputs worked by hand, its cost, and its typed calls.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/formats/element.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/rmsnorm/rmsnorm.h"

namespace rooftile {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

const OpDef& op() { return *catalogue().operation("rmsnorm").def; }

Cost cost_of(const std::string& line) {
  return op().cost(catalogue().bind("rmsnorm " + line), nullptr);
}

// The outputs of the meaning for x, w and, where given, a residual.
Values meant(const std::string& line, std::vector<double> x, std::vector<double> w,
             std::vector<double> residual = {}) {
  const Problem problem = catalogue().bind("rmsnorm " + line);
  Values values(problem);
  values["x"].values = std::move(x);
  values["w"].values = std::move(w);
  if (problem.has("residual")) values["residual"].values = std::move(residual);
  op().meaning(problem, values);
  return values;
}

// sqrt((9 + 16) / 2) = 5 / sqrt 2
TEST(RmsnormMeaning, DividesByTheRootOfTheMeanSquare) {
  const Values values = meant("rows=1 cols=2 eps=0", {3, 4}, {1, 10});
  EXPECT_NEAR(values["y"][0], 3 * std::sqrt(2.0) / 5, 1e-15);
  EXPECT_NEAR(values["y"][1], 10 * 4 * std::sqrt(2.0) / 5, 1e-14);
}

TEST(RmsnormMeaning, TakesEachRowAlone) {
  const Values values = meant("rows=3 cols=1 eps=0", {2, -5, 1e-30}, {7});
  EXPECT_THAT(values["y"].values, ElementsAre(DoubleEq(7), DoubleEq(-7), DoubleEq(7)));
}

TEST(RmsnormMeaning, HasEpsilonInsideTheRoot) {
  // 1 / sqrt(1 + 3) = 0.5; outside the root it would be 1 / (1 + sqrt 3).
  EXPECT_DOUBLE_EQ(meant("rows=1 cols=1 eps=3", {1}, {1})["y"][0], 0.5);
  EXPECT_EQ(meant("rows=1 cols=2", {0, 0}, {1, 1})["y"][0], 0) << "zeros stay zeros";
}

// 1 added in bf16 swallows a weight of 2^-8.
TEST(RmsnormMeaning, AddsTheWeightOffsetAfterWidening) {
  EXPECT_EQ(meant("rows=1 cols=1 eps=0 x=bf16 y=f32 weight_offset=1", {1}, {0.00390625})["y"][0],
            1.00390625);
  EXPECT_EQ(meant("rows=1 cols=1 eps=0 x=bf16 y=f32 weight_offset=1", {1}, {15.8125})["y"][0],
            16.8125);
  EXPECT_EQ(meant("rows=1 cols=1 eps=0 x=bf16 y=f32", {1}, {0.00390625})["y"][0], 0.00390625);
}

// Llama rounds, then multiplies; Gemma the other way
// round. (1, 0.98828125) has a normalised first element of 1.00588, which is 1.0078125 in bf16.
TEST(RmsnormMeaning, RoundsEarlyOrLate) {
  const std::string line = "rows=1 cols=2 eps=0 x=bf16 round=";
  const auto first = [&](const char* order) {
    return round_to(DType::bf16, meant(line + order, {1, 0.98828125}, {3, 3})["y"][0]);
  };
  EXPECT_EQ(first("early"), 3.03125);
  EXPECT_EQ(first("late"), 3.015625);
}

TEST(RmsnormMeaning, NormalisesTheSumAsItIsStored) {
  // 1 + 2^-9 rounds to 1 in bf16; that is what a later reader of the sum sees.
  const Values values = meant("rows=1 cols=1 eps=0 x=bf16 residual=bf16", {1}, {1}, {0x1p-9});
  EXPECT_EQ(values["sum"][0], 1);
  EXPECT_EQ(values["y"][0], 1);
  EXPECT_EQ(meant("rows=1 cols=2 eps=0 residual=f32", {1, 2}, {1, 1}, {2, 2})["sum"].values,
            (std::vector<double>{3, 4}));
}

TEST(RmsnormCost, CountsByHand) {
  // 32 elements: square, add, two multiplications. x 32 * 2 and w 8 * 4 bytes read, y 32 * 2
  // written.
  const Cost plain = cost_of("rows=4 cols=8 x=bf16 w=f32");
  EXPECT_EQ(plain[Unit::fp32], 128);
  EXPECT_EQ(plain.total_ops(), 128);
  EXPECT_EQ(plain.bytes_read, 64 + 32);
  EXPECT_EQ(plain.bytes_written, 64);
  // One addition more; the residual is read too, the sum written too.
  const Cost fused = cost_of("rows=4 cols=8 x=bf16 w=f32 residual=bf16");
  EXPECT_EQ(fused[Unit::fp32], 160);
  EXPECT_EQ(fused.bytes_read, 64 + 64 + 32);
  EXPECT_EQ(fused.bytes_written, 64 + 64);
  EXPECT_EQ(cost_of("rows=0 cols=8").total_ops(), 0);
}

TEST(RmsnormProblem, RefusesWhatMakesNoSense) {
  const auto refusal = [](const std::string& line) {
    try {
      (void)catalogue().bind("rmsnorm " + line);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("rows=1 cols=0"), HasSubstr("cols=0: must be at least 1"));
  EXPECT_THAT(refusal("rows=1 cols=8 eps=-1"), HasSubstr("eps='-1'"));
  EXPECT_THAT(refusal("rows=1 cols=8 weight_offset=2"), HasSubstr("weight_offset='2'"));
  EXPECT_THAT(refusal("rows=1 cols=8 sum=f32"), HasSubstr("'sum' goes with 'residual'"));
  EXPECT_THAT(refusal("rows=1 cols=8 x=bf16 residual=f32 sum=f32 round=early"),
              HasSubstr("round=early"));
  EXPECT_THAT(refusal("rows=1 cols=8 w.alias=x"), HasSubstr("w.alias"));
}

class RmsnormCall : public testing::Test {
 protected:
  static TensorView view(std::vector<float>& data, const Dims& shape) {
    return TensorView::contiguous(data.data(), DType::f32, shape);
  }
  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  std::vector<float> x_{3, 4, 0, 5};
  std::vector<float> w_{1, 2};
  std::vector<float> y_ = std::vector<float>(4);
};

TEST_F(RmsnormCall, ComputesTheFormula) {
  rmsnorm(*stream_, view(y_, {2, 2}), view(x_, {2, 2}), view(w_, {2}), {.eps = 0});
  const float half = std::sqrt(2.0F) / 5;
  EXPECT_THAT(y_, ElementsAre(testing::FloatEq(3 * half), testing::FloatEq(8 * half), 0,
                              testing::FloatEq(2 * std::sqrt(2.0F))));
  rmsnorm(*stream_, view(x_, {2, 2}), view(x_, {2, 2}), view(w_, {2}), {.eps = 0});
  EXPECT_EQ(x_, y_) << "in place";
}

TEST_F(RmsnormCall, AddsTheResidual) {
  std::vector<float> residual{1, 1, 1, 1};
  rmsnorm(*stream_, view(y_, {2, 2}), view(x_, {2, 2}), view(w_, {2}));
  add_rmsnorm(*stream_, view(y_, {2, 2}), view(residual, {2, 2}), view(x_, {2, 2}),
              view(residual, {2, 2}), view(w_, {2}));
  EXPECT_THAT(residual, ElementsAre(4, 5, 1, 6)) << "the sum took the residual's place";
}

TEST_F(RmsnormCall, RefusesShapesThatDoNotAgree) {
  EXPECT_THROW(rmsnorm(*stream_, view(y_, {2, 2}), view(x_, {2, 2}), view(w_, {1})), Error);
  EXPECT_THROW(rmsnorm(*stream_, view(y_, {4, 1}), view(x_, {2, 2}), view(w_, {2})), Error);
  EXPECT_THROW(rmsnorm(*stream_, view(y_, {2, 2}), view(x_, {2, 2}), {}), Error);
  EXPECT_THROW(rmsnorm(*stream_, view(y_, {2, 2}), view(x_, {2, 2}), view(w_, {2}), {.eps = -1}),
               Error);
  EXPECT_EQ(y_, std::vector<float>(4)) << "nothing written";
}

}  // namespace
}  // namespace rooftile
