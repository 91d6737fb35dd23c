// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/scale_layout.h"

#include <gtest/gtest.h>

#include <set>

namespace rooftile {
namespace {

// NVIDIA/Fuser#4801: scales in row-major order given to a block-scaled matrix multiply.
TEST(ScaleLayout, KnownOffsets) {
  EXPECT_EQ(swizzled_scale_offset(0, 0, 8), 0);
  EXPECT_EQ(swizzled_scale_offset(1, 0, 8), 16);
  EXPECT_EQ(swizzled_scale_offset(32, 0, 8), 4);
  EXPECT_EQ(swizzled_scale_offset(33, 5, 8), 533);
  EXPECT_EQ(swizzled_scale_offset(127, 3, 8), 511);
  EXPECT_EQ(swizzled_scale_offset(128, 0, 8), 1024);
  EXPECT_EQ(swizzled_scale_bytes(129, 8), 2048);
  EXPECT_EQ(swizzled_scale_bytes(1, 1), 512);
  EXPECT_EQ(swizzled_scale_bytes(0, 4), 0);
}

TEST(ScaleLayout, EveryScaleHasItsOwnByte) {
  for (const std::int64_t cols : {1, 4, 5, 9}) {
    std::set<std::int64_t> seen;
    for (std::int64_t row = 0; row < 300; ++row)
      for (std::int64_t col = 0; col < cols; ++col)
        seen.insert(swizzled_scale_offset(row, col, cols));
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), 300 * cols);
    EXPECT_GE(*seen.begin(), 0);
    EXPECT_LT(*seen.rbegin(), swizzled_scale_bytes(300, cols));
  }
}

}  // namespace
}  // namespace rooftile
