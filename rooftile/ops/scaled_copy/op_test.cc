// SPDX-License-Identifier: Apache-2.0
// The declaration of scaled_copy and its call.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/scaled_copy/scaled_copy.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("scaled_copy").def; }

TEST(ScaledCopyMeaning, IsTheProduct) {
  const Problem problem = catalogue().bind("scaled_copy rows=1 cols=3 alpha=-2");
  Values values(problem);
  values["x"].values = {1, -2, 0.25};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(-2, 4, -0.5));
}

TEST(ScaledCopyMeaning, RoundsAlphaToF32) {
  const Problem problem = catalogue().bind("scaled_copy rows=1 cols=1 alpha=0.1");
  Values values(problem);
  values["x"].values = {1};
  op().meaning(problem, values);
  EXPECT_EQ(values["y"][0], static_cast<double>(0.1F));
}

TEST(ScaledCopyCost, CountsByHand) {
  // 4 x 8 elements: a multiplication each; x 32 * 2 bytes read, y 32 * 4 written.
  const Cost cost = op().cost(catalogue().bind("scaled_copy rows=4 cols=8 x=bf16 y=f32"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 32);
  EXPECT_EQ(cost.total_ops(), 32);
  EXPECT_EQ(cost.bytes_read, 64);
  EXPECT_EQ(cost.bytes_written, 128);
}

TEST(ScaledCopyCall, ConvertsAndScales) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> x{1, 2, 1 + 0x1p-9F, -4};
  std::vector<bf16> y(4);
  const TensorView x_view = TensorView::contiguous(x.data(), DType::f32, {2, 2});
  const TensorView y_view = TensorView::contiguous(y.data(), DType::bf16, {2, 2});
  scaled_copy(*stream, y_view, x_view);
  EXPECT_EQ(static_cast<float>(y[2]), 1);
  EXPECT_EQ(static_cast<float>(y[3]), -4);
  scaled_copy(*stream, x_view, x_view, 0.5);
  EXPECT_THAT(x, ElementsAre(0.5, 1, 0.5F + 0x1p-10F, -2)) << "in place";
  EXPECT_THROW(scaled_copy(*stream, x_view, x_view, 1e39), Error) << "an alpha beyond f32";
  EXPECT_THROW(scaled_copy(*stream, x_view, TensorView::contiguous(x.data(), DType::f32, {1, 4})),
               Error);
}

}  // namespace
}  // namespace rooftile
