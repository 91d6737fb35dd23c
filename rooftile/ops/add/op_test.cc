// SPDX-License-Identifier: Apache-2.0
// The declaration of add and its call; the code that it shares with mul is tested here.
#include "rooftile/ops/add/add.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("add").def; }

TEST(AddMeaning, IsTheSum) {
  const Problem problem = catalogue().bind("add rows=1 cols=3");
  Values values(problem);
  values["a"].values = {1, -2, 0.5};
  values["b"].values = {10, 2, 0.25};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(11, 0, 0.75));
}

TEST(AddCost, CountsByHand) {
  // 4 x 8 elements: one addition each; a 32 * 2 and b 32 * 4 bytes read, y 32 * 2 written.
  const Cost cost = op().cost(catalogue().bind("add rows=4 cols=8 a=bf16 b=f32"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 32);
  EXPECT_EQ(cost.total_ops(), 32);
  EXPECT_EQ(cost.bytes_read, 64 + 128);
  EXPECT_EQ(cost.bytes_written, 64);
  // One row for all: 8 * 4 bytes.
  const Cost row =
      op().cost(catalogue().bind("add rows=4 cols=8 a=bf16 b=f32 b.stride=0,1"), nullptr);
  EXPECT_EQ(row.bytes_read, 64 + 32);
}

TEST(AddCall, BroadcastsARowInPlace) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> a{1, 2, 3, 4};
  std::vector<float> b{10, 20};
  const TensorView view = TensorView::contiguous(a.data(), DType::f32, {2, 2});
  TensorView row = TensorView::contiguous(b.data(), DType::f32, {2, 2});
  row.strides = {0, 1};
  add(*stream, view, view, row);
  EXPECT_THAT(a, ElementsAre(11, 22, 13, 24));
  EXPECT_THROW(add(*stream, view, view, TensorView::contiguous(b.data(), DType::f32, {1, 2})),
               Error);
  EXPECT_THROW(add(*stream, row, view, view), Error) << "an output whose rows overlap";
  EXPECT_THAT(a, ElementsAre(11, 22, 13, 24)) << "nothing written";
}

TEST(AddCall, RoundsOnceToTheOutputsType) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<bf16> y(1);
  const std::vector<float> a{1};
  const std::vector<float> b{0x1p-8F + 0x1p-16F};  // just beyond half a unit of bf16 at 1
  add(*stream, TensorView::contiguous(y.data(), DType::bf16, {1, 1}),
      TensorView::contiguous(a.data(), DType::f32, {1, 1}),
      TensorView::contiguous(b.data(), DType::f32, {1, 1}));
  EXPECT_EQ(static_cast<float>(y[0]), 1 + 0x1p-7F);
}

}  // namespace
}  // namespace rooftile
