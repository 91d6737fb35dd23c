// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rooftile {
namespace {

// google/XNNPACK#10460: clamped to the width of the type itself.
TEST(Affine, ClampsToTheRange) {
  EXPECT_EQ(round_to_range(3, signed_range(2)), 1);
  EXPECT_EQ(round_to_range(-5, signed_range(2)), -2);
  EXPECT_EQ(round_to_range(9, signed_range(4)), 7);
  EXPECT_EQ(round_to_range(-9, signed_range(4)), -8);
  EXPECT_EQ(round_to_range(1e300, unsigned_range(8)), 255);
  EXPECT_EQ(round_to_range(2.5, unsigned_range(8)), 2);
  EXPECT_EQ(round_to_range(std::nan(""), IntegerRange{3, 9}), 3);
}

// openvinotoolkit/nncf#4074: a group without 0 in it still has its zero point in range.
TEST(Affine, AllNegativeGroup) {
  const std::vector<float> values{-22, -21, -20, -19, -18, -17, -16, -15};
  const IntegerRange range = unsigned_range(8);
  const Affine affine = asymmetric_affine(values, range);
  EXPECT_EQ(affine.scale, static_cast<float>(22 / 255.0));
  EXPECT_EQ(affine.zero_point, 255);
  const std::vector<int> wanted{0, 12, 23, 35, 46, 58, 70, 81};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = encode_affine(values[i], affine, range);
    EXPECT_EQ(code, wanted[i]);
    EXPECT_LE(std::fabs(decode_affine(code, affine) - values[i]), affine.scale / 2 * 1.00001);
  }
}

TEST(Affine, ZeroHasItsOwnCode) {
  for (const std::vector<float>& values :
       {std::vector<float>{5, 7}, {-5, 7}, {-3, -1}, {0, 0}, {1e-45F}, {-1e38F, 3e38F}}) {
    const IntegerRange range = unsigned_range(4);
    const Affine affine = asymmetric_affine(values, range);
    EXPECT_TRUE(affine.scale > 0 && std::isfinite(affine.scale));
    EXPECT_TRUE(affine.zero_point >= 0 && affine.zero_point <= 15);
    EXPECT_EQ(decode_affine(encode_affine(0, affine, range), affine), 0);
  }
}

TEST(Affine, NotANumberGivesANanScale) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
    const std::vector<float> values{1, bad};
    for (const Affine& affine : {symmetric_affine(values, signed_range(8)),
                                 asymmetric_affine(values, unsigned_range(8))}) {
      EXPECT_TRUE(std::isnan(affine.scale));
      EXPECT_EQ(encode_affine(1, affine, unsigned_range(8)), affine.zero_point);
      EXPECT_TRUE(std::isnan(decode_affine(3, affine)));
    }
  }
}

}  // namespace
}  // namespace rooftile
