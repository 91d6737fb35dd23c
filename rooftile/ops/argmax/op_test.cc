// SPDX-License-Identifier: Apache-2.0
// The declaration of argmax: its rules on rows that can be read, its cost, its call.
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
#include "rooftile/ops/argmax/argmax.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

const OpDef& op() { return *catalogue().operation("argmax").def; }
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  std::vector<float> x;
  int index;
};

const Row kRows[]{{{1, 3, 2}, 1},
                  {{5, 5, 5}, 0},
                  {{1, 5, 5, 0}, 1},
                  {{-0.0F, 0.0F}, 0},
                  {{kNaN, 1, 2}, 2},
                  {{kNaN, kNaN}, 0},
                  {{kNaN, -kInfinity, -kInfinity}, 1},
                  {{-kInfinity, -kInfinity}, 0},
                  {{1, kInfinity, kNaN, kInfinity}, 1},
                  {{-7}, 0}};

TEST(ArgmaxMeaning, IsTheLowestIndexOfTheLargestNumber) {
  for (const Row& row : kRows) {
    const Problem problem = catalogue().bind("argmax rows=1 cols=" + std::to_string(row.x.size()));
    Values values(problem);
    values["x"].values = {row.x.begin(), row.x.end()};
    op().meaning(problem, values);
    EXPECT_EQ(values["ids"][0], row.index);
  }
}

TEST(ArgmaxCost, CountsByHand) {
  const Cost cost = op().cost(catalogue().bind("argmax rows=4 cols=10 x=bf16"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 40);
  EXPECT_EQ(cost.bytes_read, 80);
  EXPECT_EQ(cost.bytes_written, 16);
}

TEST(ArgmaxCall, IsTheLowestIndexOfTheLargestNumber) {
  const TestCache cache;
  const auto device = make_cpu_device(2);
  const auto stream = device->make_stream();
  for (const Row& row : kRows) {
    std::int32_t id = -1;
    const auto cols = static_cast<std::int64_t>(row.x.size());
    argmax(*stream, TensorView::contiguous(&id, DType::i32, {1}),
           TensorView::contiguous(row.x.data(), DType::f32, {1, cols}));
    EXPECT_EQ(id, row.index);
  }
  // Ties across the parts that threads share.
  std::vector<float> x(100000, 0);
  x[77777] = x[50000] = x[99999] = 1;
  std::int32_t id = -1;
  argmax(*stream, TensorView::contiguous(&id, DType::i32, {1}),
         TensorView::contiguous(x.data(), DType::f32, {1, 100000}));
  EXPECT_EQ(id, 50000);
  EXPECT_THROW(argmax(*stream, TensorView::contiguous(&id, DType::i32, {1}),
                      TensorView::contiguous(x.data(), DType::f32, {1, 0})),
               Error);
}

}  // namespace
}  // namespace rooftile
