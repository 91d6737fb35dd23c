// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int8_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"

namespace rooftile {
namespace {

struct Quantised {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
};

Quantised quantised(const std::vector<float>& values) {
  Quantised q{std::vector<std::int8_t>(values.size(), 99),
              std::vector<float>(values.size() / 32, -1)};
  quantise_int8_blocks(values.data(), static_cast<std::int64_t>(values.size()), q.codes.data(),
                       q.scales.data());
  return q;
}

TEST(Int8Blocks, RoundToEvenWithinTheirOwnScale) {
  std::vector<float> values(64);
  values[0] = -127;
  values[1] = 0.5F;
  values[2] = 1.5F;
  values[3] = 126.5F;
  values[32] = 254;
  values[33] = 3;
  const Quantised q = quantised(values);
  EXPECT_EQ(q.scales, (std::vector<float>{1, 2}));
  EXPECT_EQ(q.codes[0], -127);
  EXPECT_EQ(q.codes[1], 0);
  EXPECT_EQ(q.codes[2], 2);
  EXPECT_EQ(q.codes[3], 126);
  EXPECT_EQ(q.codes[32], 127);
  EXPECT_EQ(q.codes[33], 2);  // 1.5
}

TEST(Int8Blocks, ErrByHalfAStepAtMost) {
  const Rng rng(3, "int8_blocks");
  for (const float size : {1e-25F, 1.0F, 1e30F}) {
    std::vector<float> values(1024);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = size * static_cast<float>(rng.normal(i));
    const Quantised q = quantised(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float scale = q.scales[i / 32];
      ASSERT_NEAR(static_cast<float>(q.codes[i]) * scale, values[i], scale * 0.50001) << i;
    }
  }
}

TEST(Int8Blocks, HaveZerosBelowAndNaNForWhatIsNoNumber) {
  for (const float tiny : {0.0F, 0x1p-101F, std::numeric_limits<float>::denorm_min()}) {
    const Quantised q = quantised(std::vector<float>(32, tiny));
    EXPECT_EQ(q.scales[0], 0);
    EXPECT_EQ(q.codes, std::vector<std::int8_t>(32, 0));
  }
  for (const float wrong : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
    std::vector<float> values(64, 1.0F);
    values[7] = wrong;
    const Quantised q = quantised(values);
    EXPECT_TRUE(std::isnan(q.scales[0]));
    EXPECT_EQ(q.scales[1], 1 / 127.0F) << "the next block is not concerned";
    EXPECT_EQ(q.codes[7], 0);
  }
  EXPECT_EQ(quantised(std::vector<float>(32, std::numeric_limits<float>::max())).codes[0], 127);
}

TEST(Int8Blocks, RefusePartialBlocks) {
  float values[33]{};
  std::int8_t codes[33];
  float scales[2];
  EXPECT_THROW(quantise_int8_blocks(values, 33, codes, scales), Error);
}

}  // namespace
}  // namespace rooftile
