// SPDX-License-Identifier: Apache-2.0
// The declaration of kv_append: where rows go, what stays, what is skipped.
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/kv_append/kv_append.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("kv_append").def; }

TEST(KvAppendMeaning, WritesTheSlotsAndNothingElse) {
  const Problem problem =
      catalogue().bind("kv_append tokens=4 kv_heads=1 head_dim=2 pages=2 page_size=2");
  Values values(problem);
  values["k_cache"].values = {10, 11, 12, 13, 14, 15, 16, 17};
  values["v_cache"].values = {20, 21, 22, 23, 24, 25, 26, 27};
  values["k"].values = {1, 2, 3, 4, 5, 6, 7, 8};
  values["v"].values = {-1, -2, -3, -4, -5, -6, -7, -8};
  values["slots"].values = {3, -1, 0, 4};  // page 1 offset 1; skipped; page 0 offset 0; beyond
  op().meaning(problem, values);
  EXPECT_THAT(values["k_cache"].values, ElementsAre(5, 6, 12, 13, 14, 15, 1, 2));
  EXPECT_THAT(values["v_cache"].values, ElementsAre(-5, -6, 22, 23, 24, 25, -1, -2));
  // 2 rows of 2 elements, twice, in 4 bytes; 4 slots.
  const Cost cost = op().cost(problem, &values);
  EXPECT_EQ(cost.bytes_read, 32 + 16);
  EXPECT_EQ(cost.bytes_written, 32);
}

TEST(KvAppendCall, ConvertsIntoACacheByHeads) {
  const TestCache cache;
  const std::unique_ptr<Device> device = make_cpu_device(1);
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<bf16> k_cache(8, bf16{0x3f80});  // 1
  std::vector<bf16> v_cache = k_cache;
  const std::vector<float> k{2, 3};  // a token of 2 heads
  const std::vector<std::int32_t> slots{1};
  // [pages=1, page_size=4, kv_heads=2, head_dim=1], a head's keys adjacent
  const auto by_heads = [](std::vector<bf16>& data) {
    return TensorView{data.data(), DType::bf16, {1, 4, 2, 1}, {8, 1, 4, 1}, {}, nullptr};
  };
  const TensorView rows = TensorView::contiguous(k.data(), DType::f32, {1, 2, 1});
  kv_append(*stream, by_heads(k_cache), by_heads(v_cache), rows, rows,
            TensorView::contiguous(slots.data(), DType::i32, {1}));
  std::vector<float> got;
  for (const bf16 value : k_cache) got.push_back(static_cast<float>(value));
  EXPECT_THAT(got, ElementsAre(1, 2, 1, 1, 1, 3, 1, 1));
  EXPECT_THROW(kv_append(*stream, by_heads(k_cache), by_heads(k_cache), rows, rows,
                         TensorView::contiguous(slots.data(), DType::i32, {1})),
               Error)
      << "one memory for two outputs";
}

}  // namespace
}  // namespace rooftile
