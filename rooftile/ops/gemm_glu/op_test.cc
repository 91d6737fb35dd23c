// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm_glu: its meaning on numbers worked by hand, its cost, its call.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm_glu/gemm_glu.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("gemm_glu").def; }

// Sums of the gate: 1*1 + 2*-2 = -3 and 1*3 + 2*4 = 11; of up: 1*5 + 2*6 = 17 and 1*-7 + 2*8 = 9.
TEST(GemmGlu, MultipliesByTheActivatedGate) {
  const Problem problem = catalogue().bind("gemm_glu m=1 n=2 k=2 a=f32 act=relu");
  Values values(problem);
  values["a"].values = {1, 2};
  values["gate"].values = {1, 3, -2, 4};
  values["up"].values = {5, -7, 6, 8};
  op().meaning(problem, values);
  EXPECT_THAT(values["d"].values, ElementsAre(0, 99));
}

TEST(GemmGlu, CostsBothProductsAndNoneOfThemInMemory) {
  const Cost cost = op().cost(catalogue().bind("gemm_glu m=8 n=16 k=32 a=bf16 layout=nt"), nullptr);
  EXPECT_EQ(cost[Unit::bf16], 4.0 * 8 * 16 * 32);
  EXPECT_EQ(cost.bytes_read, 2.0 * (8 * 32 + 2 * 16 * 32));
  EXPECT_EQ(cost.bytes_written, 2.0 * 8 * 16);
}

TEST(GemmGlu, IsCalledWithWeightsAsTheyAreStored) {
  const TestCache cache;
  const std::unique_ptr<Device> device = open_device("cpu");
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<float> a{1, 2};
  std::vector<float> gate{1, -2, 3, 4};  // [n, k]
  std::vector<float> up{5, 6, -7, 8};
  std::vector<float> d(2);
  const auto view = [](std::vector<float>& data, std::int64_t rows) {
    return TensorView::contiguous(data.data(), DType::f32, {rows, 2});
  };
  gemm_glu(*stream, view(d, 1), view(a, 1), transposed(view(gate, 2)), transposed(view(up, 2)),
           "relu");
  stream->synchronise();
  EXPECT_THAT(d, ElementsAre(0, 99));
  EXPECT_THROW(gemm_glu(*stream, view(d, 1), view(a, 1), view(gate, 1), view(up, 2)), Error);
}

}  // namespace
}  // namespace rooftile
