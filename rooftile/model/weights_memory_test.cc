// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/weights_memory.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/device/cpu/cpu_device.h"

namespace rooftile {
namespace {

struct MoveToDevice : testing::Test {
  MoveToDevice() {
    std::iota(table.begin(), table.end(), 0.0F);
    std::iota(norm.begin(), norm.end(), 100.0F);
    weights.embedding = TensorView::contiguous(table.data(), DType::f32, {3, 2});
    weights.output = weights.embedding;
    weights.output_norm = TensorView::contiguous(norm.data(), DType::f32, {2});
    weights.layers.resize(1);
    weights.layers[0].q = TensorView::contiguous(norm.data(), DType::f32, {2, 1});
  }
  std::unique_ptr<Device> device = make_cpu_device(1);
  std::vector<float> table = std::vector<float>(6);
  std::vector<float> norm = std::vector<float>(2);
  Weights weights;
};

TEST_F(MoveToDevice, KeepsValuesShapesAndTies) {
  const auto memory = move_to_device(weights, *device);
  ASSERT_TRUE(memory);
  const auto* begin = static_cast<const char*>(memory->data());
  for_each_weight(std::as_const(weights), [&](const TensorView& view) {
    EXPECT_GE(view.as<const char>(), begin);
    EXPECT_LT(view.as<const char>(), begin + memory->bytes());
  });
  EXPECT_EQ(weights.output.data, weights.embedding.data);
  EXPECT_NE(weights.embedding.data, table.data());
  EXPECT_EQ(weights.embedding.as<float>()[5], 5);
  EXPECT_EQ(weights.output_norm.as<float>()[1], 101);
  EXPECT_EQ(weights.layers[0].q.as<float>()[0], 100);
  EXPECT_EQ(weights.layers[0].q.shape, (Dims{2, 1}));
  EXPECT_FALSE(weights.layers[0].k.is_present());
}

TEST_F(MoveToDevice, LeavesWhatWouldFillTheDevice) {
  const std::int64_t quarter = device->properties().memory_bytes / 4;
  weights.output = TensorView::contiguous(norm.data(), DType::f32, {quarter / 4, 1});
  EXPECT_FALSE(move_to_device(weights, *device));
  EXPECT_EQ(weights.embedding.data, table.data());
}

}  // namespace
}  // namespace rooftile
