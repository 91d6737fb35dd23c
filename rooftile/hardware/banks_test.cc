// SPDX-License-Identifier: Apache-2.0
// Shared-memory wavefronts against those that Nsight Compute counted on an H200
// (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum and _st.sum, one warp, 2026-11-29).
#include "rooftile/hardware/banks.h"

#include <gtest/gtest.h>

#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr int kOff = -1;

struct Wavefronts {
  int load;
  int store;
};

struct Pattern {
  const char* what;
  int (*element)(int lane);  // its address is element * bytes_per_lane; kOff: inactive
  Wavefronts measured[3];    // for 4, 8 and 16 bytes a lane
};

constexpr Pattern kPatterns[] = {
    {"consecutive", [](int l) { return l; }, {{1, 1}, {2, 2}, {4, 4}}},
    {"pairs share", [](int l) { return l / 2; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"i^2 shares", [](int l) { return l / 4 * 2 + (l & 1); }, {{1, 1}, {1, 2}, {2, 4}}},
    {"odd lanes off", [](int l) { return l & 1 ? kOff : l / 2; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"i^1 in one half, i^2 in the other",
     [](int l) { return l < 16 ? l / 2 : 8 + l / 4 * 2 + (l & 1); },
     {{1, 1}, {2, 2}, {4, 4}}},
    {"one address", [](int) { return 0; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"every second", [](int l) { return l * 2; }, {{2, 2}, {4, 4}, {8, 8}}},
    {"both halves alike", [](int l) { return l % 16; }, {{1, 1}, {2, 2}, {4, 4}}},
    {"fours share", [](int l) { return l / 4; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"quarters alike", [](int l) { return l % 8; }, {{1, 1}, {2, 2}, {4, 4}}},
    {"first half alone", [](int l) { return l < 16 ? l : kOff; }, {{1, 1}, {1, 1}, {2, 2}}},
    {"first quarter alone", [](int l) { return l < 8 ? l : kOff; }, {{1, 1}, {1, 1}, {1, 1}}},
    {"one lane", [](int l) { return l ? kOff : 0; }, {{1, 1}, {1, 1}, {1, 1}}},
    {"odd quarters off", [](int l) { return l & 8 ? kOff : l; }, {{1, 1}, {2, 2}, {2, 2}}},
    {"every eighth", [](int l) { return l * 8; }, {{8, 8}, {16, 16}, {32, 32}}},
    {"pairs share every eighth", [](int l) { return l / 2 * 8; }, {{4, 4}, {8, 8}, {16, 16}}},
    {"i^2 off", [](int l) { return l & 2 ? kOff : l; }, {{1, 1}, {2, 2}, {4, 4}}},
    {"an address a half", [](int l) { return l / 16; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"an address a quarter", [](int l) { return l / 8; }, {{1, 1}, {1, 2}, {2, 4}}},
    {"every fourth", [](int l) { return l * 4; }, {{4, 4}, {8, 8}, {16, 16}}},
    {"lanes 0 and 16", [](int l) { return l % 16 ? kOff : 0; }, {{1, 1}, {1, 2}, {2, 2}}},
};

struct Lanes {
  std::vector<std::uint64_t> addresses;
  std::uint32_t active = 0;
};

Lanes lanes_of(const Pattern& pattern, int bytes_per_lane) {
  Lanes result;
  for (int lane = 0; lane < 32; ++lane) {
    const int element = pattern.element(lane);
    if (element != kOff) result.active |= 1u << lane;
    result.addresses.push_back(static_cast<std::uint64_t>(std::max(element, 0) * bytes_per_lane));
  }
  return result;
}

TEST(Banks, EqualTheCountersOfAnH200) {
  for (const Pattern& pattern : kPatterns)
    for (int i = 0; i < 3; ++i) {
      const int width = 4 << i;
      SCOPED_TRACE(std::string(pattern.what) + ", " + std::to_string(width) + " bytes");
      const Lanes lanes = lanes_of(pattern, width);
      const WarpAccess access{lanes.addresses, width, lanes.active};
      EXPECT_EQ(bank_access(access, AccessKind::load).wavefronts, pattern.measured[i].load);
      EXPECT_EQ(bank_access(access, AccessKind::store).wavefronts, pattern.measured[i].store);
    }
}

std::vector<std::uint64_t> column_of_words(std::uint64_t words_per_row) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t row = 0; row < 32; ++row) result.push_back(4 * words_per_row * row);
  return result;
}

TEST(Banks, PaddingARowByAWordEndsConflicts) {
  EXPECT_EQ(bank_access({column_of_words(32)}).conflicts(), 31);
  EXPECT_EQ(bank_access({column_of_words(33)}).conflicts(), 0);
}

TEST(Banks, WideAccessesWithoutConflictTakeSeveralTransactions) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t lane = 0; lane < 32; ++lane) addresses.push_back(16 * lane);
  const BankAccess result = bank_access({addresses, 16});
  EXPECT_EQ(result.transactions, 4);
  EXPECT_EQ(result.wavefronts, 4);
  EXPECT_EQ(result.conflicts(), 0);
}

TEST(Banks, BytesOfOneWordAreOneWord) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t lane = 0; lane < 32; ++lane) addresses.push_back(lane);
  EXPECT_EQ(bank_access({addresses, 1}).wavefronts, 1);
}

TEST(Banks, NoLaneNoWavefront) {
  EXPECT_EQ(bank_access({column_of_words(1), 4, 0}).wavefronts, 0);
  EXPECT_EQ(bank_access({}).transactions, 0);
}

TEST(Banks, RefusesBadInput) {
  EXPECT_THROW(bank_access({column_of_words(1), 32}), Error);
  EXPECT_THROW(bank_access({column_of_words(1), 8}), Error);  // lane 1 is at 4
}

}  // namespace
}  // namespace rooftile
