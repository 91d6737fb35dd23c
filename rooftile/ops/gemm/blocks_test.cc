// SPDX-License-Identifier: Apache-2.0
// gemm with weights in GGUF blocks: what is refused, the cost, rounded activations, and that the
// bound tells a kernel that does the one from a kernel that does the other.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/formats/gguf_blocks.h"
#include "rooftile/formats/int8_blocks.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/tolerance.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/cpu_activations.h"
#include "rooftile/ops/gemm/gemm.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

const OpDef& op() { return *catalogue().operation("gemm").def; }

std::string refusal(const std::string& line) {
  try {
    (void)catalogue().bind("gemm " + line);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GemmBlocks, LieAlongK) {
  EXPECT_EQ(refusal("m=2 n=3 k=64 a=f32 b=q4_1 layout=nt"), "");
  EXPECT_EQ(refusal("m=2 n=3 k=64 a=f32 b=q4_1 layout=tt"), "");
  EXPECT_EQ(refusal("m=2 n=1 k=64 a=f32 b=q4_1 layout=nt"), "");
  EXPECT_EQ(refusal("m=2 n=3 k=0 a=f32 b=q4_1 layout=nt"), "");
  EXPECT_THAT(refusal("m=2 n=32 k=64 a=f32 b=q4_1"), HasSubstr("layout must be nt or tt"));
  EXPECT_THAT(refusal("m=2 n=3 k=48 a=f32 b=q4_1 layout=nt"), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal("m=2 n=3 k=64 a=f32 b=q4_k layout=nt"), HasSubstr("multiple of 256"));
  EXPECT_THAT(refusal("m=2 n=0 k=48 a=f32 b=q4_1 layout=nt"), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal("m=2 n=3 k=64 a=q4_1 layout=nt"), HasSubstr("a"));
}

TEST(GemmBlocks, RoundActivationsOnlyForBlocks) {
  EXPECT_EQ(refusal("m=2 n=3 k=64 a=f32 b=q4_1 layout=nt activations=q8"), "");
  EXPECT_THAT(refusal("m=2 n=3 k=64 a=f32 layout=nt activations=q8"),
              HasSubstr("activations=q8 is for b in GGUF blocks"));
  EXPECT_THAT(refusal("m=2 n=3 k=64 a=f32 b=q4_1 layout=nt activations=q4"), HasSubstr("q8"));
}

TEST(GemmBlocks, CostTheirOwnBytes) {
  const Cost cost =
      op().cost(catalogue().bind("gemm m=2 n=3 k=64 a=f32 b=q4_1 layout=nt"), nullptr);
  EXPECT_EQ(cost.bytes_read, 2 * 64 * 4 + 3 * 2 * 20);
  EXPECT_EQ(cost.bytes_written, 2 * 3 * 4);
  EXPECT_EQ(cost[Unit::fp32], 2 * 2 * 3 * 64);
  const Cost rounded = op().cost(
      catalogue().bind("gemm m=2 n=3 k=64 a=f32 b=q4_1 layout=nt activations=q8"), nullptr);
  EXPECT_EQ(rounded[Unit::int8], 2 * 2 * 3 * 64);
  EXPECT_EQ(rounded.bytes_read, cost.bytes_read);
}

// Of 1 row and 2 columns, a = (1, 0.25, 0, ...): 0.25 * 127 = 31.75 rounds to 32.
TEST(GemmBlocks, MeanRoundedActivations) {
  const auto meant = [](const std::string& option) {
    const Problem problem = catalogue().bind("gemm m=1 n=2 k=32 a=f32 b=q8_0 layout=nt" + option);
    Values values(problem);
    values["a"].values[0] = 1;
    values["a"].values[1] = 0.25;
    values["b"].values[0 * 2 + 0] = 1;
    values["b"].values[1 * 2 + 1] = 1;
    op().meaning(problem, values);
    return values["d"].values;
  };
  EXPECT_EQ(meant(""), (std::vector<double>{1, 0.25}));
  const double scale = 1.0F / 127.0F;
  EXPECT_EQ(meant(" activations=q8"), (std::vector<double>{127 * scale, 32 * scale}));
}

// Planted faults: results of which the bound must say no.
class GemmBlocksBound : public testing::TestWithParam<const char*> {
 protected:
  static Values meant(const std::string& option, double factor = 1, std::size_t dropped = 0) {
    const Problem problem = catalogue().bind("gemm m=3 n=5 k=8192 a=f32 b=q4_1 layout=nt" + option);
    Values values(problem);
    const Rng rng(5, "planted");
    for (std::size_t i = 0; i < values["a"].values.size(); ++i)
      values["a"].values[i] = static_cast<float>(rng.normal(i));
    for (std::size_t i = 0; i < values["b"].values.size(); ++i)
      values["b"].values[i] = static_cast<float>(factor * rng.normal(i + 100000));
    for (std::size_t i = 0; i < dropped; ++i) values["b"].values[i] = 0;
    op().meaning(problem, values);
    return values;
  }
  static bool passes(const Values& actual, const Values& expected, const std::string& option) {
    const Problem problem = catalogue().bind("gemm m=3 n=5 k=8192 a=f32 b=q4_1 layout=nt" + option);
    return compare(actual["d"].values, expected["d"], DType::f32, op().tolerance(problem, "d"))
        .passed();
  }
};

TEST_P(GemmBlocksBound, TellsRightFromWrong) {
  const std::string option = GetParam();
  const std::string other = option.empty() ? " activations=q8" : "";
  const Values right = meant(option);
  EXPECT_TRUE(passes(right, right, option));
  EXPECT_FALSE(passes(meant(other), right, option)) << "the other kind of activations";
  EXPECT_FALSE(passes(meant(option, 1 + 1e-2), right, option)) << "a scale in fewer bits";
  EXPECT_FALSE(passes(meant(option, 1, 5), right, option)) << "one of 8192 terms is lost";
}

INSTANTIATE_TEST_SUITE_P(Gemm, GemmBlocksBound, testing::Values("", " activations=q8"),
                         [](const auto& test) { return test.index == 0 ? "exact" : "q8"; });

// A weight as a model file has it, [n, k]: row 0 is 1, 2, … 32 times 0.5, row 1 all -1.
TEST(GemmBlocks, AreTakenByTheTypedCall) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> w(64, -1.0F);
  for (std::size_t i = 0; i < 32; ++i) w[i] = 0.5F * static_cast<float>(i + 1);
  std::vector<q8_0> blocks(2);
  quantise_blocks(DType::q8_0, w.data(), 64, blocks.data());
  dequantise_blocks(DType::q8_0, blocks.data(), 64, w.data());
  std::vector<float> a(32), d(2, NAN);
  a[3] = 1;
  a[31] = -2;
  const TensorView weight = TensorView::contiguous(blocks.data(), DType::q8_0, {2, 32});
  gemm(*stream, TensorView::contiguous(d.data(), DType::f32, {1, 2}),
       TensorView::contiguous(a.data(), DType::f32, {1, 32}), transposed(weight));
  EXPECT_FLOAT_EQ(d[0], w[3] - 2 * w[31]);
  EXPECT_FLOAT_EQ(d[1], w[32 + 3] - 2 * w[32 + 31]);
  EXPECT_THROW(gemm(*stream, TensorView::contiguous(d.data(), DType::f32, {1, 2}),
                    TensorView::contiguous(a.data(), DType::f32, {1, 2}), weight),
               Error)
      << "[n, k] instead of [k, n]";
}

// Every block has a scale and a minimum of its own, whatever a kernel takes along k at once. Whole
// numbers, and activations that int8 holds, so every kernel must be exact.
TEST(GemmBlocks, EachHaveTheirOwnScaleAndMinimum) {
  constexpr std::int64_t kN = 3;
  constexpr std::int64_t kK = 160;
  std::vector<q4_1> weight(kN * kK / 32);
  std::vector<float> w(kN * kK);
  for (std::size_t b = 0; b < weight.size(); ++b) {
    const auto whole = [](std::size_t value) {
      return from_float<fp16>(static_cast<float>(value));
    };
    weight[b] = {.d = whole(b + 1), .m = whole(100 * (b + 1)), .q = {}};
    for (std::size_t i = 0; i < 16; ++i)
      weight[b].q[i] = static_cast<std::uint8_t>(17 * i + 31 * b);
    dequantise(weight[b], w.data() + 32 * b);
  }
  const TestCache cache;
  const auto device = make_cpu_device(2);
  const auto stream = device->make_stream();
  for (const std::int64_t m : {1, 2, 7, 9}) {
    std::vector<float> a(static_cast<std::size_t>(m * kK));
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = i % 32 == 5 ? 127.0F : static_cast<float>(i * 37 % 255) - 127.0F;
    for (const char* activations : {"exact", "q8"}) {
      std::vector<float> d(static_cast<std::size_t>(m * kN), NAN);
      gemm(*stream, TensorView::contiguous(d.data(), DType::f32, {m, kN}),
           TensorView::contiguous(a.data(), DType::f32, {m, kK}),
           transposed(TensorView::contiguous(weight.data(), DType::q4_1, {kN, kK})),
           {.activations = activations});
      for (std::int64_t i = 0; i < m * kN; ++i) {
        float sum = 0;  // exact: below 2^24
        for (std::int64_t k = 0; k < kK; ++k)
          sum += a[static_cast<std::size_t>(i / kN * kK + k)] *
                 w[static_cast<std::size_t>(i % kN * kK + k)];
        EXPECT_EQ(d[static_cast<std::size_t>(i)], sum) << m << ' ' << activations << ' ' << i;
      }
    }
  }
}

TEST(Int8Rows, HaveTheBitsOfTheCodec) {
  constexpr std::int64_t kK = 32 * 37;
  const Rng rng(6, "int8_rows");
  for (const int wrong : {-1, 40}) {
    std::vector<float> row(kK);
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = static_cast<float>(rng.normal(i) * std::exp2(20 * rng.normal(i / 32 + 5000)));
    for (std::size_t i = 64; i < 96; ++i) row[i] = 0x1p-110F;
    if (wrong >= 0) row[static_cast<std::size_t>(wrong)] = std::numeric_limits<float>::infinity();
    std::vector<std::int8_t> codes(kK);
    std::vector<float> scales(kK / 32);
    quantise_int8_blocks(row.data(), kK, codes.data(), scales.data());
    alignas(64) char memory[ops::gemm::int8_row_bytes(kK)];
    const auto got = ops::gemm::int8_row(memory, kK);
    ops::gemm::quantise_row(row.data(), kK, -8, got);
    for (std::size_t i = 0; i < codes.size(); ++i) ASSERT_EQ(got.codes[i], codes[i]) << i;
    ops::gemm::round_row(row.data(), kK);
    for (std::size_t block = 0; block < scales.size(); ++block) {
      int sums[2] = {0, 0};
      for (std::size_t i = 0; i < 32; ++i) sums[i / 16] += codes[block * 32 + i];
      EXPECT_EQ(got.sums[2 * block], sums[0]);
      EXPECT_EQ(got.sums[2 * block + 1], sums[1]);
      if (std::isnan(scales[block])) {
        EXPECT_TRUE(std::isnan(got.pairs[2 * block]) && std::isnan(row[block * 32]));
        continue;
      }
      EXPECT_EQ(got.pairs[2 * block], scales[block]);
      EXPECT_EQ(got.pairs[2 * block + 1],
                scales[block] * (-8.0F * static_cast<float>(sums[0] + sums[1])));
      for (std::size_t i = block * 32; i < block * 32 + 32; ++i)
        ASSERT_EQ(row[i], static_cast<float>(codes[i]) * scales[block]);
    }
  }
}

}  // namespace
}  // namespace rooftile
