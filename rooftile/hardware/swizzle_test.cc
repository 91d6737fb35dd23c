// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/swizzle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rooftile/hardware/banks.h"

namespace rooftile {
namespace {

constexpr Swizzle kSwizzles[] = {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};

// Worked by hand: row 1 of 128 bytes has its chunks 0 and 1 exchanged.
static_assert(swizzled(Swizzle::bytes128, 1, 0) == 128 + 16);
static_assert(swizzled(Swizzle::bytes128, 1, 16) == 128 + 0);
static_assert(swizzled(Swizzle::bytes128, 7, 0) == 7 * 128 + 112);
static_assert(swizzled(Swizzle::bytes64, 1, 0) == 64);  // the same 128 bytes as row 0
static_assert(swizzled(Swizzle::bytes64, 2, 0) == 128 + 16);
static_assert(swizzled(Swizzle::bytes32, 4, 0) == 128 + 16);
static_assert(swizzled(Swizzle::none, 0xffff) == 0xffff);
static_assert(swizzle_row_bytes(Swizzle::bytes128) == 128);
static_assert(swizzle_period_bytes(Swizzle::bytes64) == 512);

TEST(Swizzle, IsItsOwnInverseKeepsChunksWholeAndRepeats) {
  for (const Swizzle mode : kSwizzles)
    for (std::uint32_t offset = 0; offset < 4096; ++offset) {
      const std::uint32_t moved = swizzled(mode, offset);
      EXPECT_EQ(swizzled(mode, moved), offset);
      EXPECT_EQ(moved % 16, offset % 16);
      EXPECT_EQ(moved / 128, offset / 128);
      const std::uint32_t period = swizzle_period_bytes(mode);
      EXPECT_EQ(swizzled(mode, offset + period), moved + period);
    }
}

// Lanes 0 to 7 each take the 16-byte chunk `chunk` of one of 8 rows: a column, as ldmatrix reads.
int column_wavefronts(Swizzle mode, std::uint32_t row_bytes, std::uint32_t chunk) {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t row = 0; row < 8; ++row)
    addresses.push_back(swizzled(mode, row * row_bytes + chunk * kSwizzleChunkBytes));
  return bank_access({addresses, 16}).wavefronts;
}

TEST(Swizzle, AColumnOfEightChunksIsFreeOfConflicts) {
  for (const Swizzle mode : kSwizzles) {
    const std::uint32_t row_bytes = swizzle_row_bytes(mode);
    for (std::uint32_t chunk = 0; chunk < row_bytes / kSwizzleChunkBytes; ++chunk) {
      EXPECT_EQ(column_wavefronts(mode, row_bytes, chunk), 1) << row_bytes << " " << chunk;
      EXPECT_EQ(column_wavefronts(Swizzle::none, row_bytes, chunk),
                static_cast<int>(row_bytes / kSwizzleChunkBytes));
    }
  }
}

TEST(Swizzle, ARowStaysFreeOfConflicts) {
  for (const Swizzle mode : kSwizzles) {
    std::vector<std::uint64_t> addresses;
    for (std::uint32_t lane = 0; lane < 32; ++lane) addresses.push_back(swizzled(mode, 16 * lane));
    EXPECT_EQ(bank_access({addresses, 16}).conflicts(), 0);
  }
}

}  // namespace
}  // namespace rooftile
