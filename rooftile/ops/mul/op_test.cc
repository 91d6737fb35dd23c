// SPDX-License-Identifier: Apache-2.0
// The declaration of mul and its call; what it shares with add is tested there.
#include "rooftile/ops/mul/mul.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("mul").def; }

TEST(MulMeaning, IsTheProduct) {
  const Problem problem = catalogue().bind("mul rows=1 cols=3");
  Values values(problem);
  values["a"].values = {1, -2, 0.5};
  values["b"].values = {10, 2, 0.25};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(10, -4, 0.125));
}

TEST(MulCost, CountsByHand) {
  // 6 products; 6 * 4 bytes of a, 3 * 4 of the one row of b; 6 * 4 written.
  const Cost cost = op().cost(catalogue().bind("mul rows=2 cols=3 a=f32 b.stride=0,1"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 6);
  EXPECT_EQ(cost.bytes_read, 24 + 12);
  EXPECT_EQ(cost.bytes_written, 24);
}

TEST(MulCall, Multiplies) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> y(2);
  const std::vector<float> a{3, 4};
  const std::vector<float> b{0.5, -1};
  mul(*stream, TensorView::contiguous(y.data(), DType::f32, {1, 2}),
      TensorView::contiguous(a.data(), DType::f32, {1, 2}),
      TensorView::contiguous(b.data(), DType::f32, {1, 2}));
  EXPECT_THAT(y, ElementsAre(1.5, -4));
}

}  // namespace
}  // namespace rooftile
