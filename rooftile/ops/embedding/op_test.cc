// SPDX-License-Identifier: Apache-2.0
// The declaration of embedding: its meaning on a table that can be read, its cost, its call.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/generate.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/embedding/embedding.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::IsNan;

const OpDef& op() { return *catalogue().operation("embedding").def; }

Values with_ids(const Problem& problem, std::vector<double> ids) {
  Values values(problem);
  values["table"].values = {10, 11, 20, 21, 30, 31};
  values["ids"].values = std::move(ids);
  return values;
}

TEST(EmbeddingMeaning, TakesRowsByNumber) {
  const Problem problem = catalogue().bind("embedding rows=3 cols=2 vocab=3 scale=2");
  Values values = with_ids(problem, {2, 0, 2});
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(60, 62, 20, 22, 60, 62));
}

TEST(EmbeddingMeaning, IsNaNOutsideTheTable) {
  const Problem problem = catalogue().bind("embedding rows=3 cols=2 vocab=3");
  Values values = with_ids(problem, {-1, 1, 3});
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(IsNan(), IsNan(), 20, 21, IsNan(), IsNan()));
}

TEST(EmbeddingCost, CountsEachRowOfTheTableOnce) {
  const Problem problem = catalogue().bind("embedding rows=4 cols=2 vocab=3 table=bf16");
  // Rows 0 and 2: 2 * 2 elements of 2 bytes; four ids of 4 bytes; 4 * 2 elements written.
  const Values values = with_ids(problem, {2, 0, 2, -1});
  const Cost cost = op().cost(problem, &values);
  EXPECT_DOUBLE_EQ(cost.bytes_read, 8 + 16);
  EXPECT_EQ(cost.bytes_written, 16);
  EXPECT_EQ(cost.total_ops(), 0);
  EXPECT_DOUBLE_EQ(op().cost(problem, nullptr).bytes_read, 12 + 16) << "without data, the most";
  EXPECT_EQ(
      op().cost(catalogue().bind("embedding rows=4 cols=2 vocab=3 scale=2"), nullptr).total_ops(),
      8);
}

TEST(EmbeddingIds, LeaveTheTableOnlyWithExtremeData) {
  const auto ids_of = [](const std::string& line) {
    const Problem problem = catalogue().bind("embedding rows=60 cols=1 vocab=7 " + line);
    Values values(problem);
    generate_inputs(op(), problem, values);
    return values["ids"].values;
  };
  for (const double id : ids_of("")) EXPECT_TRUE(id >= 0 && id < 7) << id;
  EXPECT_THAT(ids_of("data=extreme"), testing::IsSupersetOf({-1.0, 7.0, 2147483647.0}));
}

TEST(EmbeddingCall, TakesRowsByNumber) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const std::vector<float> table{10, 11, 20, 21, 30, 31};
  const std::vector<std::int32_t> ids{1, 7};
  std::vector<float> y(4);
  const TensorView y_view = TensorView::contiguous(y.data(), DType::f32, {2, 2});
  const TensorView table_view = TensorView::contiguous(table.data(), DType::f32, {3, 2});
  const TensorView ids_view = TensorView::contiguous(ids.data(), DType::i32, {2});
  embedding(*stream, y_view, table_view, ids_view);
  EXPECT_THAT(y, ElementsAre(20, 21, IsNan(), IsNan()));
  embedding(*stream, y_view, table_view, ids_view, {.scale = 0.5});
  EXPECT_THAT(y, ElementsAre(10, 10.5, IsNan(), IsNan()));
  EXPECT_THROW(embedding(*stream, y_view, table_view, table_view), Error) << "ids of another type";
}

}  // namespace
}  // namespace rooftile
