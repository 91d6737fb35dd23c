// SPDX-License-Identifier: Apache-2.0
// The declaration of glu: its meaning on inputs worked by hand, its cost, its call on the layouts
// of real models.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/glu/glu.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

const OpDef& op() { return *catalogue().operation("glu").def; }

double meant(const std::string& options, double gate, double up) {
  const Problem problem = catalogue().bind("glu rows=1 cols=1 " + options);
  Values values(problem);
  values["gate"].values = {gate};
  values["up"].values = {up};
  op().meaning(problem, values);
  return values["y"][0];
}

TEST(GluMeaning, ActivatesTheGateAndMultiplies) {
  EXPECT_DOUBLE_EQ(meant("act=relu", 3, -2), -6);
  EXPECT_DOUBLE_EQ(meant("act=relu", -3, -2), 0);
  EXPECT_DOUBLE_EQ(meant("act=none", -3, -2), 6);
  EXPECT_DOUBLE_EQ(meant("", std::log(3), 4), 3 * std::log(3));  // sigmoid(ln 3) = 3/4
}

// The gate is clamped on one side, up on both.
TEST(GluMeaning, ClampsAsGptOss) {
  const std::string options = "limit=7 alpha=1.702 up_offset=1";
  EXPECT_NEAR(meant(options, 10, -9), -41.999719, 1e-6);
  EXPECT_NEAR(meant(options, 1, 2), 2.537387, 1e-6);
  EXPECT_NEAR(meant(options, -10, 0), -10 / (1 + std::exp(17.02)), 1e-9) << "not clamped below";
  EXPECT_NE(meant("limit=1", 10, 1), meant("limit=100", 10, 1));
}

TEST(GluCost, CountsByHand) {
  // silu's 4 operations and a product for each of 32; two inputs of 2 bytes, an output of 2.
  const Cost cost = op().cost(catalogue().bind("glu rows=4 cols=8 gate=bf16"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 32 * 5);
  EXPECT_EQ(cost.bytes_read, 128);
  EXPECT_EQ(cost.bytes_written, 64);
}

class GluCall : public testing::Test {
 protected:
  // A view of `cols` columns of x_ [1, 4].
  TensorView view(std::int64_t first, std::int64_t stride) {
    return {
        .data = x_.data() + first, .dtype = DType::f32, .shape = {1, 2}, .strides = {4, stride}};
  }
  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  std::vector<float> x_{1, 2, 3, 4};
  std::vector<float> y_ = std::vector<float>(2);
  TensorView y_view_ = TensorView::contiguous(y_.data(), DType::f32, {1, 2});
};

TEST_F(GluCall, TakesHalvesAndInterleavedColumnsByStrides) {
  glu(*stream_, y_view_, view(0, 1), view(2, 1));
  EXPECT_THAT(y_, ElementsAre(FloatNear(2.193176F, 1e-5F), FloatNear(7.046377F, 1e-5F)));
  glu(*stream_, y_view_, view(0, 2), view(1, 2));
  EXPECT_THAT(y_, ElementsAre(FloatNear(1.462117F, 1e-5F), FloatNear(11.430890F, 1e-5F)));
  glu(*stream_, y_view_, view(2, 1), view(0, 1));
  EXPECT_THAT(y_, ElementsAre(FloatNear(2.857722F, 1e-5F), FloatNear(7.856110F, 1e-5F)));
}

TEST_F(GluCall, HonoursEachOption) {
  std::vector<float> gate{10, 1};
  std::vector<float> up{-9, 2};
  const GluOptions options{.limit = 7, .alpha = 1.702, .up_offset = 1};
  glu(*stream_, y_view_, TensorView::contiguous(gate.data(), DType::f32, {1, 2}),
      TensorView::contiguous(up.data(), DType::f32, {1, 2}), options);
  EXPECT_THAT(y_, ElementsAre(FloatNear(-41.999719F, 1e-4F), FloatNear(2.537387F, 1e-5F)));
  EXPECT_THROW(glu(*stream_, y_view_, view(0, 1), view(2, 1), {.limit = -1}), Error);
  EXPECT_THROW(glu(*stream_, y_view_, view(0, 1), view(2, 1), {.alpha = 0}), Error);
  EXPECT_THROW(glu(*stream_, y_view_, view(0, 1), view(2, 1), {.up_offset = 2}), Error);
}

}  // namespace
}  // namespace rooftile
