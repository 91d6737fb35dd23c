// SPDX-License-Identifier: Apache-2.0
// The declaration of rope: its meaning on inputs worked by hand, its scalings on published numbers,
// its cost, its call.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/rope/frequencies.h"
#include "rooftile/ops/rope/rope.h"

namespace rooftile {
namespace {

using ops::rope::attention_factor;
using ops::rope::frequencies;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

const OpDef& op() { return *catalogue().operation("rope").def; }

Problem bound(const std::string& line) { return catalogue().bind("rope " + line); }

std::vector<double> meant(const std::string& line, std::vector<double> x, double position) {
  const Problem problem = bound("tokens=1 heads=1 " + line);
  Values values(problem);
  values["x"].values = std::move(x);
  values["positions"].values = {position};
  op().meaning(problem, values);
  return values["y"].values;
}

auto near(double value) { return DoubleNear(value, 1e-6); }

// huggingface/transformers#25199
TEST(RopeMeaning, PairsHalvesOrNeighbours) {
  EXPECT_THAT(meant("head_dim=4", {1, 2, 3, 4}, 1),
              ElementsAre(near(-1.984111), near(1.959901), near(2.462378), near(4.019800)));
  EXPECT_THAT(meant("head_dim=4 pairing=interleaved", {1, 2, 3, 4}, 1),
              ElementsAre(near(-1.142640), near(1.922076), near(2.959851), near(4.029800)));
  EXPECT_THAT(meant("head_dim=4", {1, 2, 3, 4}, 0), ElementsAre(1, 2, 3, 4));
}

// pie-project/pie#603: frequencies and pairs follow the rotated part, not the head.
TEST(RopeMeaning, RotatesAPart) {
  EXPECT_THAT(
      meant("head_dim=8 rotary=4", std::vector<double>(8, 1), 1),
      ElementsAre(near(-0.301169), near(0.989950), near(1.381773), near(1.009950), 1, 1, 1, 1));
}

TEST(RopeMeaning, TurnsBackAtNegativePositions) {
  const std::vector<double> there = meant("head_dim=4", {1, 2, 3, 4}, 5);
  EXPECT_THAT(meant("head_dim=4", there, -5), ElementsAre(near(1), near(2), near(3), near(4)));
}

TEST(RopeMeaning, DividesByFreqFactors) {
  const Problem problem = bound("tokens=1 heads=1 head_dim=2 pairs=1 freq_factors=f32");
  Values values(problem);
  values["x"].values = {1, 0};
  values["positions"].values = {3};
  values["freq_factors"].values = {2};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(near(std::cos(1.5)), near(std::sin(1.5))));
}

std::vector<double> ratios(const std::string& line) {
  const std::vector<double> scaled = frequencies(bound("tokens=1 heads=1 " + line));
  const std::string theta = line.substr(0, line.find(" scaling"));
  std::vector<double> list = frequencies(bound("tokens=1 heads=1 " + theta));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = scaled[i] / list[i];
  return list;
}

// jmaczan/tiny-vllm#1
TEST(RopeFrequencies, OfLlama3HaveThreeBands) {
  const std::vector<double> list = ratios(
      "head_dim=64 theta=500000 scaling=llama3 factor=32 low_freq_factor=1 "
      "high_freq_factor=4 original_context=8192");
  for (std::size_t i = 0; i < 32; ++i) {
    const double right = i < 15    ? 1
                         : i == 15 ? 0.605573
                         : i == 16 ? 0.303743
                         : i == 17 ? 0.103448
                                   : 1.0 / 32;
    EXPECT_NEAR(list[i], right, 1e-6) << i;
  }
}

TEST(RopeFrequencies, OfYarnRampBetweenWholePairs) {
  // pair(rotations) = 64 ln(4096 / (2 pi rotations)) / (2 ln 10000): 10.4 at 32, 22.5 at 1. So
  // pairs to 10 are kept, from 23 on divided by 4; pair 14 is 4/13 of the way.
  const std::vector<double> list =
      ratios("head_dim=64 theta=10000 scaling=yarn factor=4 original_context=4096");
  for (std::size_t i = 0; i <= 10; ++i) EXPECT_DOUBLE_EQ(list[i], 1) << i;
  EXPECT_NEAR(list[14], 1 - 4.0 / 13 + 4.0 / 13 / 4, 1e-12);
  for (std::size_t i = 23; i < 32; ++i) EXPECT_DOUBLE_EQ(list[i], 0.25) << i;
}

TEST(RopeFrequencies, OfLinearAreDivided) {
  EXPECT_THAT(ratios("head_dim=8 scaling=linear factor=8"),
              testing::Each(DoubleNear(0.125, 1e-15)));
}

// vllm-project/vllm#48623
TEST(RopeAttentionFactor, IsTheFormulaUnlessGiven) {
  const std::string yarn = "tokens=1 heads=1 head_dim=64 scaling=yarn factor=16 ";
  EXPECT_NEAR(attention_factor(bound(yarn)), 1.277259, 1e-6);
  EXPECT_EQ(attention_factor(bound(yarn + "mscale=1 mscale_all_dim=1")), 1);
  EXPECT_EQ(attention_factor(bound(yarn + "attn_factor=1")), 1);
  EXPECT_EQ(attention_factor(bound("tokens=1 heads=1 head_dim=64 scaling=linear factor=16")), 1);
  EXPECT_EQ(attention_factor(bound("tokens=1 heads=1 head_dim=64 scaling=yarn factor=1")), 1);
}

TEST(RopeCost, CountsByHand) {
  // 2 tokens of 3 heads of 8, 4 rotated: 24 elements of 3 operations; 2 * 4 sines and cosines.
  const Cost cost = op().cost(bound("tokens=2 heads=3 head_dim=8 rotary=4 x=bf16"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 72);
  EXPECT_EQ(cost[Unit::special], 8);
  EXPECT_EQ(cost.bytes_read, 2 * 3 * 8 * 2 + 2 * 4);
  EXPECT_EQ(cost.bytes_written, 96);
  const Cost in_place =
      op().cost(bound("tokens=2 heads=3 head_dim=8 rotary=4 x=bf16 y.alias=x"), nullptr);
  EXPECT_EQ(in_place.bytes_written, 48) << "the rest stays where it is";
}

TEST(RopeProblem, RefusesWhatMakesNoSense) {
  const auto refusal = [](const std::string& line) {
    try {
      (void)bound("tokens=1 heads=1 " + line);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("head_dim=8 rotary=10"), HasSubstr("rotary=10 is more than head_dim=8"));
  EXPECT_THAT(refusal("head_dim=7"), HasSubstr("must be even"));
  EXPECT_THAT(refusal("head_dim=8 rotary=3"), HasSubstr("must be even"));
  EXPECT_THAT(refusal("head_dim=8 freq_factors=f32 pairs=8"), HasSubstr("needs 4"));
  EXPECT_THAT(refusal("head_dim=8 scaling=llama3 low_freq_factor=4"), HasSubstr("must exceed"));
  EXPECT_THAT(refusal("head_dim=8 scaling=yarn theta=1"), HasSubstr("theta above 1"));
  EXPECT_THAT(refusal("head_dim=8 scaling=ntk"), HasSubstr("scaling"));
}

class RopeCall : public testing::Test {
 protected:
  // One token, one head.
  std::vector<float> rotated(std::vector<float> x, std::int32_t position,
                             const RopeOptions& options = {}) {
    const TensorView view =
        TensorView::contiguous(x.data(), DType::f32, {1, 1, static_cast<std::int64_t>(x.size())});
    rope(*stream_, view, view, TensorView::contiguous(&position, DType::i32, {1}), options);
    return x;
  }
  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

// vllm-project/vllm-ascend#12723
TEST_F(RopeCall, KeepsThePairsNorms) {
  const Rng rng(1, "rope");
  for (const std::size_t dim : {6UL, 24UL, 80UL, 96UL, 192UL}) {
    std::vector<float> x(dim);
    for (std::size_t i = 0; i < dim; ++i) x[i] = static_cast<float>(rng.normal(i));
    const std::vector<float> y = rotated(x, 5);
    for (std::size_t i = 0; i < dim / 2; ++i)
      EXPECT_NEAR(std::hypot(y[i], y[i + dim / 2]) / std::hypot(x[i], x[i + dim / 2]), 1, 1e-6);
  }
}

TEST_F(RopeCall, IsExactAtAMillion) {
  for (const std::int32_t position : {1'000'000, 2'147'483'647}) {
    const std::vector<float> y = rotated({1, 0}, position);  // frequency 1
    EXPECT_NEAR(y[0], std::cos(static_cast<double>(position)), 1e-7);
    EXPECT_NEAR(y[1], std::sin(static_cast<double>(position)), 1e-7);
  }
}

TEST_F(RopeCall, HonoursItsOptions) {
  EXPECT_NEAR(rotated({1, 2, 3, 4}, 1, {.pairing = RopePairing::interleaved})[0], -1.142640, 1e-6);
  EXPECT_EQ(rotated({1, 2, 3, 4}, 1, {.rotary = 2})[3], 4);
  EXPECT_NEAR(rotated({1, 0}, 4, {.scaling = RopeScaling::linear, .factor = 2})[0], std::cos(2.0),
              1e-6);
  EXPECT_NEAR(rotated({1, 0}, 4, {.attn_factor = 3})[1], 3 * std::sin(4.0), 1e-6);
  const float half = 2;
  EXPECT_NEAR(
      rotated({1, 0}, 4, {.freq_factors = TensorView::contiguous(&half, DType::f32, {1})})[0],
      std::cos(2.0), 1e-6);
  EXPECT_THROW(rotated({1, 2, 3, 4}, 1, {.rotary = 6}), Error);
  EXPECT_THROW(rotated({1, 0}, 1, {.theta = 0}), Error);
}

}  // namespace
}  // namespace rooftile
