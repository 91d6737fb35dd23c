// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm: its meaning on inputs worked by hand, its cost, its layouts, its call.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile {
namespace {

using testing::Each;
using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("gemm").def; }

Cost cost_of(const std::string& line) {
  return op().cost(catalogue().bind("gemm " + line), nullptr);
}

struct Inputs {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> bias{};
  std::vector<double> residual{};
};

Values meant(const std::string& line, const Inputs& inputs) {
  const Problem problem = catalogue().bind("gemm " + line);
  Values values(problem);
  values["a"].values = inputs.a;
  values["b"].values = inputs.b;
  if (problem.has("bias")) values["bias"].values = inputs.bias;
  if (problem.has("residual")) values["residual"].values = inputs.residual;
  op().meaning(problem, values);
  return values;
}

const Inputs kSmall{.a = {1, 2, 3, 4, 5, 6}, .b = {7, 8, 9, 10, 11, 12}};  // [2,3] and [3,2]

// 1*7 + 2*9 + 3*11 = 58, 1*8 + 2*10 + 3*12 = 64, 4*7 + 5*9 + 6*11 = 139, 4*8 + 5*10 + 6*12 = 154
TEST(GemmMeaning, SumsProducts) {
  EXPECT_THAT(meant("m=2 n=2 k=3", kSmall)["d"].values, ElementsAre(58, 64, 139, 154));
}

TEST(GemmMeaning, AddsBiasActivatesThenAddsTheResidual) {
  Inputs inputs = kSmall;
  inputs.bias = {-100, 1};
  inputs.residual = {1, 2, 3, 4};
  // 58 - 100 < 0, so relu gives 0; the residual comes after.
  EXPECT_THAT(meant("m=2 n=2 k=3 bias=f32 residual=f32 act=relu", inputs)["d"].values,
              ElementsAre(1, 67, 42, 159));
  EXPECT_NEAR(meant("m=1 n=1 k=1 act=gelu", {.a = {1}, .b = {1}})["d"][0], 0.841345, 1e-6);
  EXPECT_NEAR(meant("m=1 n=1 k=1 act=gelu_tanh", {.a = {1}, .b = {1}})["d"][0], 0.841192, 1e-6);
}

// An expert without tokens has k = 0: zeros, and what is added stays.
TEST(GemmMeaning, OfNothingToSumIsZeroOrTheResidual) {
  EXPECT_THAT(meant("m=2 n=2 k=0", {})["d"].values, Each(0));
  EXPECT_THAT(
      meant("m=2 n=2 k=0 residual=f32", {.a = {}, .b = {}, .residual = {1, 2, 3, 4}})["d"].values,
      ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(
      meant("m=1 n=2 k=0 bias=f32 act=relu", {.a = {}, .b = {}, .bias = {-5, 5}})["d"].values,
      ElementsAre(0, 5));
}

TEST(GemmMeaning, GivesTheMagnitudeOfWhatWasSummed) {
  // 3*3 - 3*3 = 0, but terms of 9 were added: |(3,3)| * |(3,-3)| = 18.
  const Values values = meant("m=1 n=1 k=2", {.a = {3, 3}, .b = {3, -3}});
  EXPECT_EQ(values["d"][0], 0);
  EXPECT_NEAR(values["d"].magnitude[0], 18, 1e-12);
}

TEST(GemmLayout, IsStrides) {
  const auto strides = [](const char* layout, const char* arg) {
    return catalogue().bind("gemm m=2 n=5 k=3 layout=" + std::string(layout)).arg(arg).strides;
  };
  EXPECT_EQ(strides("nn", "a"), (Dims{3, 1}));
  EXPECT_EQ(strides("nn", "b"), (Dims{5, 1}));
  EXPECT_EQ(strides("nt", "a"), (Dims{3, 1}));
  EXPECT_EQ(strides("nt", "b"), (Dims{1, 3}));  // a weight [n, k]
  EXPECT_EQ(strides("tn", "a"), (Dims{1, 2}));
  EXPECT_EQ(strides("tt", "b"), (Dims{1, 3}));
  for (const char* layout : {"nn", "nt", "tn", "tt"}) EXPECT_EQ(strides(layout, "d"), (Dims{5, 1}));
}

TEST(GemmCost, CountsByHand) {
  // 2 * 2 * 3 * 4 operations; a 8, b 12 and d 6 elements of 2 bytes.
  const Cost plain = cost_of("m=2 n=3 k=4 a=bf16");
  EXPECT_EQ(plain[Unit::bf16], 48);
  EXPECT_EQ(plain[Unit::fp32], 0);
  EXPECT_EQ(plain.bytes_read, 40);
  EXPECT_EQ(plain.bytes_written, 12);
  // gelu is 6 operations, bias and residual one each, for 6 elements; bias 3 * 4 and residual 6 * 4
  // bytes.
  const Cost fused = cost_of("m=2 n=3 k=4 a=bf16 d=f32 bias=f32 residual=f32 act=gelu");
  EXPECT_EQ(fused[Unit::bf16], 48);
  EXPECT_EQ(fused[Unit::fp32], 6 * 8);
  EXPECT_EQ(fused.bytes_read, 40 + 12 + 24);
  EXPECT_EQ(fused.bytes_written, 24);
  EXPECT_EQ(cost_of("m=2 n=3 k=4 a=fp16")[Unit::fp16], 48);
  EXPECT_EQ(cost_of("m=2 n=3 k=4 a=f32")[Unit::fp32], 48);
  EXPECT_EQ(cost_of("m=2 n=3 k=4 a=bf16 b=f32")[Unit::fp32], 48)
      << "mixed types have no matrix unit";
  EXPECT_EQ(cost_of("m=2 n=3 k=0").total_ops(), 0);
}

class GemmCall : public testing::Test {
 protected:
  static TensorView view(std::vector<float>& data, const Dims& shape) {
    return TensorView::contiguous(data.data(), DType::f32, shape);
  }
  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  std::vector<float> a_{1, 2, 3, 4, 5, 6};
  std::vector<float> a_t_{1, 4, 2, 5, 3, 6};
  std::vector<float> b_{7, 8, 9, 10, 11, 12};
  std::vector<float> b_t_{7, 9, 11, 8, 10, 12};
  std::vector<float> d_ = std::vector<float>(4, std::numeric_limits<float>::quiet_NaN());
};

TEST_F(GemmCall, TakesEveryLayoutAsAView) {
  for (const bool is_a_transposed : {false, true})
    for (const bool is_b_transposed : {false, true}) {
      d_.assign(4, NAN);
      gemm(*stream_, view(d_, {2, 2}),
           is_a_transposed ? transposed(view(a_t_, {3, 2})) : view(a_, {2, 3}),
           is_b_transposed ? transposed(view(b_t_, {2, 3})) : view(b_, {3, 2}));
      EXPECT_THAT(d_, ElementsAre(58, 64, 139, 154)) << is_a_transposed << is_b_transposed;
    }
}

TEST_F(GemmCall, WritesZerosOverNaNForNoTerms) {
  gemm(*stream_, view(d_, {2, 2}), view(a_, {2, 0}), view(b_, {0, 2}));
  EXPECT_THAT(d_, Each(0));
  std::vector<float> residual{1, 2, 3, 4};
  gemm(*stream_, view(residual, {2, 2}), view(a_, {2, 0}), view(b_, {0, 2}),
       {.residual = view(residual, {2, 2})});
  EXPECT_THAT(residual, ElementsAre(1, 2, 3, 4)) << "in place";
}

TEST_F(GemmCall, RefusesShapesThatDoNotAgree) {
  EXPECT_THROW(gemm(*stream_, view(d_, {2, 2}), view(a_, {2, 3}), view(b_, {2, 3})), Error);
  EXPECT_THROW(gemm(*stream_, view(d_, {2, 2}), view(a_, {3, 2}), view(b_, {3, 2})), Error);
  EXPECT_THROW(
      gemm(*stream_, view(d_, {2, 2}), view(a_, {2, 3}), view(b_, {3, 2}), {.act = "swish"}),
      Error);
  EXPECT_TRUE(std::isnan(d_[0])) << "nothing written";
}

}  // namespace
}  // namespace rooftile
