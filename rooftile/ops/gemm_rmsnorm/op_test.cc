// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm_rmsnorm: its meaning on numbers worked by hand, its cost, its call.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm_rmsnorm/gemm_rmsnorm.h"

namespace rooftile {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

const OpDef& op() { return *catalogue().operation("gemm_rmsnorm").def; }

// The mean of 1 and 49 is 25, so the root is 5: rows 0.2 and 1.4, weighted 0.4 and 4.2.
TEST(GemmRmsnorm, MultipliesNormalisedRows) {
  const Problem problem = catalogue().bind("gemm_rmsnorm m=1 n=2 k=2 a=f32 eps=0 weight_offset=1");
  Values values(problem);
  values["a"].values = {1, 7};
  values["w"].values = {1, 2};
  values["b"].values = {1, 10, 2, 20};
  op().meaning(problem, values);
  EXPECT_THAT(values["d"].values, Pointwise(DoubleNear(1e-12), {0.4 + 8.4, 4.0 + 84.0}));
  EXPECT_NEAR(values["d"].magnitude[0], std::sqrt(0.4 * 0.4 + 8.4 * 8.4), 1e-12);
}

TEST(GemmRmsnorm, CostsTheRowsOnce) {
  const Cost cost =
      op().cost(catalogue().bind("gemm_rmsnorm m=8 n=16 k=32 a=bf16 layout=nt"), nullptr);
  EXPECT_EQ(cost[Unit::bf16], 2.0 * 8 * 16 * 32);
  EXPECT_EQ(cost[Unit::fp32], 4.0 * 8 * 32);
  EXPECT_EQ(cost.bytes_read, 2.0 * (8 * 32 + 32 + 16 * 32));
  EXPECT_EQ(cost.bytes_written, 2.0 * 8 * 16);
}

TEST(GemmRmsnorm, IsCalledWithAWeightAsItIsStored) {
  const TestCache cache;
  const std::unique_ptr<Device> device = open_device("cpu");
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<float> a{1, 7};
  std::vector<float> w{2, 3};
  std::vector<float> b{1, 2, 10, 20};  // [n, k]
  std::vector<float> d(2);
  const auto view = [](std::vector<float>& data, std::int64_t rows) {
    return TensorView::contiguous(data.data(), DType::f32, {rows, 2});
  };
  const TensorView weight = TensorView::contiguous(w.data(), DType::f32, {2});
  gemm_rmsnorm(*stream, view(d, 1), view(a, 1), weight, transposed(view(b, 2)), {.eps = 0});
  stream->synchronise();
  EXPECT_FLOAT_EQ(d[0], 0.4F + 8.4F);
  EXPECT_FLOAT_EQ(d[1], 4.0F + 84.0F);
  EXPECT_THROW(gemm_rmsnorm(*stream, view(d, 1), view(a, 1), view(w, 1), view(b, 2)), Error);
}

}  // namespace
}  // namespace rooftile
