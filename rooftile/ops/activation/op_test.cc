// SPDX-License-Identifier: Apache-2.0
// The declaration of activation: its meaning on known values, its cost, its call.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/activation/activation.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

const OpDef& op() { return *catalogue().operation("activation").def; }

double meant(const std::string& act, double x) {
  const Problem problem = catalogue().bind("activation rows=1 cols=1 act=" + act);
  Values values(problem);
  values["x"].values = {x};
  op().meaning(problem, values);
  return values["y"][0];
}

TEST(ActivationMeaning, HasKnownValues) {
  EXPECT_NEAR(meant("silu", 1.74), 1.480195, 1e-6);
  EXPECT_NEAR(meant("silu", 3), 2.857722, 1e-6);
  EXPECT_NEAR(meant("gelu", 1), 0.841345, 1e-6);
  EXPECT_NEAR(meant("gelu_tanh", 1), 0.841192, 1e-6);
  EXPECT_EQ(meant("relu", -2), 0);
  EXPECT_EQ(meant("none", -2), -2);
  EXPECT_EQ(meant("sigmoid", 0), 0.5);
}

TEST(ActivationCost, CountsByHand) {
  // silu is a negation, an exponential, an addition and a division; 32 elements of 2 and 4 bytes.
  const Cost cost = op().cost(catalogue().bind("activation rows=4 cols=8 x=bf16 y=f32"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 32 * 4);
  EXPECT_EQ(cost.bytes_read, 64);
  EXPECT_EQ(cost.bytes_written, 128);
}

class ActivationCall : public testing::Test {
 protected:
  std::vector<float> activated(std::string_view act, std::vector<float> x) {
    const auto count = static_cast<std::int64_t>(x.size());
    const TensorView view = TensorView::contiguous(x.data(), DType::f32, {1, count});
    activate(*stream_, view, view, act);
    return x;
  }
  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

TEST_F(ActivationCall, IsAccurateToAMillionthEverywhere) {
  std::vector<float> x;
  for (int i = -800; i <= 800; ++i) x.push_back(static_cast<float>(i) / 50);
  const auto expect = [&](std::string_view act, auto right) {
    const std::vector<float> y = activated(act, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = right(double{x[i]});
      EXPECT_NEAR(y[i], value, 1e-6 * std::abs(value) + 1e-37) << act << " of " << x[i];
    }
  };
  expect("silu", [](double v) { return v / (1 + std::exp(-v)); });
  expect("gelu", [](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); });
  expect("sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
  expect("tanh", [](double v) { return std::tanh(v); });
}

TEST_F(ActivationCall, MakesNoNaNInTheTails) {
  for (const std::string_view act : {"silu", "gelu", "gelu_tanh", "sigmoid", "tanh", "relu"})
    for (const float y : activated(act, {-100, -1e30F, 1e30F, -3e38F, 3e38F, 0}))
      EXPECT_FALSE(std::isnan(y)) << act;
  EXPECT_LE(std::abs(activated("silu", {-100})[0]), 1e-37F);
}

TEST_F(ActivationCall, KeepsANaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view act : {"none", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh"})
    EXPECT_TRUE(std::isnan(activated(act, {nan})[0])) << act;
}

TEST_F(ActivationCall, RefusesAnUnknownName) { EXPECT_THROW(activated("sillu", {1}), Error); }

}  // namespace
}  // namespace rooftile
