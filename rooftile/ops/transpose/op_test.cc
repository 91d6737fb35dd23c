// SPDX-License-Identifier: Apache-2.0
// The declaration of transpose and its call.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const OpDef& op() { return *catalogue().operation("transpose").def; }

TEST(TransposeMeaning, ExchangesTheAxes) {
  const Problem problem = catalogue().bind("transpose rows=2 cols=3");
  Values values(problem);
  values["x"].values = {1, 2, 3, 4, 5, 6};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(TransposeCost, IsTheBytes) {
  const Cost cost = op().cost(catalogue().bind("transpose rows=4 cols=8 x=bf16"), nullptr);
  EXPECT_EQ(cost.total_ops(), 0);
  EXPECT_EQ(cost.bytes_read, 64);
  EXPECT_EQ(cost.bytes_written, 64);
}

TEST(TransposeProblem, ConvertsNothing) {
  try {
    (void)catalogue().bind("transpose rows=2 cols=3 x=bf16 y=f32");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("y must have x's dtype"));
  }
}

TEST(TransposeCall, MovesEveryBit) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> x{1, 2, 3, 4, -0.0F, 1e-45F};
  std::vector<float> y(6);
  const TensorView x_view = TensorView::contiguous(x.data(), DType::f32, {2, 3});
  transpose(*stream, TensorView::contiguous(y.data(), DType::f32, {3, 2}), x_view);
  EXPECT_THAT(y, ElementsAre(1, 4, 2, -0.0F, 3, 1e-45F));
  EXPECT_THROW(transpose(*stream, x_view, x_view), Error) << "shapes that do not agree";
}

}  // namespace
}  // namespace rooftile
