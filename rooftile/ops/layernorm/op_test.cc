// SPDX-License-Identifier: Apache-2.0
// The declaration of layernorm: its meaning on inputs worked by hand, its cost, and its typed
// calls.
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
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/layernorm/layernorm.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::HasSubstr;

const OpDef& op() { return *catalogue().operation("layernorm").def; }

Values meant(const std::string& line, std::vector<double> x, std::vector<double> w = {},
             std::vector<double> b = {}) {
  const Problem problem = catalogue().bind("layernorm " + line);
  Values values(problem);
  values["x"].values = std::move(x);
  if (problem.has("w")) values["w"].values = std::move(w);
  if (problem.has("b")) values["b"].values = std::move(b);
  if (problem.has("residual")) values["residual"].values = {0x1p-9, 0};
  op().meaning(problem, values);
  return values;
}

// Mean 2, deviations -1, 1: the variance is 1.
TEST(LayernormMeaning, DividesDeviationsByTheirRoot) {
  EXPECT_THAT(meant("rows=1 cols=2 eps=0", {1, 3})["y"].values, ElementsAre(-1, 1));
  EXPECT_THAT(meant("rows=1 cols=2 eps=0 w=f32 b=f32", {1, 3}, {10, 20}, {1, 2})["y"].values,
              ElementsAre(-9, 22));
}

TEST(LayernormMeaning, HasEpsilonInsideTheRoot) {
  EXPECT_THAT(meant("rows=1 cols=2 eps=3", {1, 3})["y"].values, ElementsAre(-0.5, 0.5));
  EXPECT_THAT(meant("rows=2 cols=1 w=f32 b=f32", {5, -7}, {3}, {4})["y"].values, ElementsAre(4, 4))
      << "one element has no deviation";
}

TEST(LayernormMeaning, NormalisesTheSumAsItIsStored) {
  // 1 + 2^-9 rounds to 1 in bf16.
  const Values values = meant("rows=1 cols=2 eps=0 x=bf16 residual=bf16", {1, 3});
  EXPECT_THAT(values["sum"].values, ElementsAre(1, 3));
  EXPECT_THAT(values["y"].values, ElementsAre(-1, 1));
}

// Deviations of 1, the largest 1, whatever the mean; in 16 bits, an error of an f32's mean as well.
TEST(LayernormMeaning, AllowsErrorsRelativeToTheDeviations) {
  for (const double mean : {0.0, 1000.0, -1e6})
    EXPECT_DOUBLE_EQ(meant("rows=1 cols=2 eps=0", {mean - 1, mean + 1})["y"].magnitude[0], 2);
  EXPECT_DOUBLE_EQ(meant("rows=1 cols=2 eps=0 x=bf16", {127, 129})["y"].magnitude[0], 2 + 128);
  EXPECT_DOUBLE_EQ(meant("rows=1 cols=2 eps=1 x=bf16", {128, 128})["y"].magnitude[0], 0)
      << "of equal elements every mean is exact";
}

TEST(LayernormCost, CountsByHand) {
  const auto cost_of = [](const std::string& line) {
    return op().cost(catalogue().bind("layernorm " + line), nullptr);
  };
  // 32 elements: add, subtract, square, add, scale, weight, bias; x 32 * 2, w and b 8 * 4 bytes.
  const Cost plain = cost_of("rows=4 cols=8 x=bf16 w=f32 b=f32");
  EXPECT_EQ(plain[Unit::fp32], 32 * 7);
  EXPECT_EQ(plain.total_ops(), 32 * 7);
  EXPECT_EQ(plain.bytes_read, 64 + 32 + 32);
  EXPECT_EQ(plain.bytes_written, 64);
  const Cost fused = cost_of("rows=4 cols=8 x=bf16 residual=bf16");
  EXPECT_EQ(fused[Unit::fp32], 32 * 6);
  EXPECT_EQ(fused.bytes_read, 64 + 64);
  EXPECT_EQ(fused.bytes_written, 64 + 64);
}

TEST(LayernormProblem, RefusesWhatMakesNoSense) {
  const auto refusal = [](const std::string& line) {
    try {
      (void)catalogue().bind("layernorm " + line);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("rows=1 cols=0"), HasSubstr("cols=0: must be at least 1"));
  EXPECT_THAT(refusal("rows=1 cols=8 eps=-1"), HasSubstr("eps='-1'"));
  EXPECT_THAT(refusal("rows=1 cols=8 sum=f32"), HasSubstr("'sum' goes with 'residual'"));
}

TEST(LayernormCall, NormalisesAndAdds) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const auto view = [](std::vector<float>& data, const Dims& shape) {
    return TensorView::contiguous(data.data(), DType::f32, shape);
  };
  std::vector<float> x{1, 3, 1e6F, 1e6F + 2};
  std::vector<float> w{1, 2};
  std::vector<float> b{0, 10};
  std::vector<float> y(4);
  layernorm(*stream, view(y, {2, 2}), view(x, {2, 2}), view(w, {2}), view(b, {2}), 0);
  EXPECT_THAT(y, ElementsAre(-1, 12, -1, 12)) << "a large mean cancels nothing";
  std::vector<float> far{1e4F, 1e4F + 1.0F / 64, 3e38F, 3e38F};
  layernorm(*stream, view(y, {2, 2}), view(far, {2, 2}), {}, {}, 1e-10);
  EXPECT_THAT(y, ElementsAre(FloatNear(-1, 1e-5F), FloatNear(1, 1e-5F), 0, 0));
  std::vector<float> residual{1, 1, 0, 0};
  add_layernorm(*stream, view(y, {2, 2}), view(residual, {2, 2}), view(x, {2, 2}),
                view(residual, {2, 2}), {}, {}, 0);
  EXPECT_THAT(residual, ElementsAre(2, 4, 1e6F, 1e6F + 2)) << "the sum took the residual's place";
  EXPECT_THAT(y, ElementsAre(-1, 1, -1, 1));
  layernorm(*stream, view(x, {2, 2}), view(x, {2, 2}), {}, view(b, {2}), 0);
  EXPECT_THAT(x, ElementsAre(FloatEq(-1), FloatEq(11), FloatEq(-1), FloatEq(11))) << "in place";
  EXPECT_THROW(layernorm(*stream, view(y, {2, 2}), view(x, {2, 2}), view(w, {1}), {}), Error);
}

}  // namespace
}  // namespace rooftile
