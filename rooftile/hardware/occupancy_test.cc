// SPDX-License-Identifier: Apache-2.0
// Occupancy against golden rows computed with CUDA 13.0's occupancy calculator, and by hand.
#include "rooftile/hardware/occupancy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

struct GoldenRow {
  std::string line;
  ComputeCapability capability;
  BlockNeeds needs;
  int blocks, warps, by_registers, by_shared, by_warps, by_blocks, by_barriers;
  int mask;  // warps 1, registers 2, shared memory 4, blocks 8, barriers 16, virtual resources 32
};

GoldenRow parse_row(const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  EXPECT_EQ(cells.size(), 14u) << line;
  const auto number = [&](std::size_t i) { return std::stoi(cells.at(i), nullptr, 0); };
  const std::vector<std::string> capability = split(cells.at(0), '.');
  return {.line = line,
          .capability = {std::stoi(capability.at(0)), std::stoi(capability.at(1))},
          .needs = {.threads_per_block = number(2),
                    .registers_per_thread = number(1),
                    .static_shared_bytes = number(3),
                    .dynamic_shared_bytes = number(4),
                    .barriers_per_block = number(5)},
          .blocks = number(6),
          .warps = number(7),
          .by_registers = number(8),
          .by_shared = number(9),
          .by_warps = number(10),
          .by_blocks = number(11),
          .by_barriers = number(12),
          .mask = number(13)};
}

std::vector<GoldenRow> golden_rows() {
  std::ifstream file(std::string(ROOFTILE_SOURCE_DIR) + "/tests/hardware/occupancy_golden.csv");
  EXPECT_TRUE(file) << "the golden rows are missing";
  std::vector<GoldenRow> rows;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) rows.push_back(parse_row(line));
  return rows;
}

// The calculator marks factors at the minimum of all but the barriers, then adds the barriers if
// they are at or below it; so a kernel limited by barriers alone keeps the others' marks. Ours
// marks only what binds.
int calculator_mask(const Occupancy& result) {
  int minimum = *result.limit(OccupancyFactor::blocks);
  for (int factor = 0; factor < kOccupancyFactors; ++factor)
    if (factor != static_cast<int>(OccupancyFactor::barriers))
      minimum = std::min(minimum,
                         result.limit_blocks[static_cast<std::size_t>(factor)].value_or(minimum));
  int mask = 0;
  for (int factor = 0; factor < kOccupancyFactors; ++factor) {
    const std::optional<int> limit = result.limit_blocks[static_cast<std::size_t>(factor)];
    if (limit && *limit <= minimum) mask |= 1 << factor;
  }
  return mask;
}

int binding_mask(const Occupancy& result) {
  int mask = 0;
  for (const OccupancyFactor factor : result.binding_factors())
    mask |= 1 << static_cast<int>(factor);
  return mask;
}

TEST(Occupancy, EqualsEveryGoldenRow) {
  const std::vector<GoldenRow> rows = golden_rows();
  ASSERT_EQ(rows.size(), 140u);
  for (const GoldenRow& row : rows) {
    SCOPED_TRACE(row.line);
    const Occupancy ours = occupancy(row.capability, row.needs);
    EXPECT_EQ(ours.blocks_per_sm, row.blocks);
    EXPECT_EQ(ours.warps_per_sm, row.warps);
    EXPECT_EQ(ours.limit(OccupancyFactor::registers), row.by_registers);
    EXPECT_EQ(ours.limit(OccupancyFactor::shared_memory), row.by_shared);
    EXPECT_EQ(ours.limit(OccupancyFactor::warps), row.by_warps);
    EXPECT_EQ(ours.limit(OccupancyFactor::blocks), row.by_blocks);
    EXPECT_EQ(ours.limit(OccupancyFactor::barriers).value_or(-1), row.by_barriers);
    EXPECT_EQ(ours.limit(OccupancyFactor::virtual_resources), std::nullopt);
    EXPECT_EQ(calculator_mask(ours), row.mask);
    const bool barriers_alone = binding_mask(ours) == 0x10;
    if (!barriers_alone) {
      EXPECT_EQ(binding_mask(ours), row.mask);
    }
    EXPECT_NE(binding_mask(ours), 0);
  }
}

TEST(Occupancy, BarriersLimitNewerConsumerPartsMost) {
  const BlockNeeds needs{
      .threads_per_block = 64, .registers_per_thread = 32, .barriers_per_block = 16};
  EXPECT_EQ(occupancy({9, 0}, needs).blocks_per_sm, 4);
  EXPECT_EQ(occupancy({12, 0}, needs).blocks_per_sm, 1);
  EXPECT_EQ(occupancy({8, 9}, needs).blocks_per_sm, 24);
}

TEST(Occupancy, CountsVirtualResources) {
  const BlockNeeds needs{
      .threads_per_block = 64, .registers_per_thread = 32, .virtual_resources_per_block = 40};
  EXPECT_EQ(occupancy({10, 0}, needs).blocks_per_sm, 3);
  EXPECT_TRUE(occupancy({10, 0}, needs).binds(OccupancyFactor::virtual_resources));
  EXPECT_EQ(occupancy({9, 0}, needs).blocks_per_sm, 32);
}

TEST(Occupancy, SmallCarveoutLimitsAndIsRaisedUntilOneBlockFits) {
  BlockNeeds needs{.threads_per_block = 128,
                   .registers_per_thread = 32,
                   .dynamic_shared_bytes = 15 * 1024,
                   .carveout_bytes = 32 * 1024};
  EXPECT_EQ(occupancy({9, 0}, needs).blocks_per_sm, 2);
  needs.carveout_bytes = 0;
  EXPECT_EQ(occupancy({9, 0}, needs).blocks_per_sm, 1);
}

TEST(Occupancy, SaysWhy) {
  const Occupancy some = occupancy({9, 0}, {.threads_per_block = 128, .registers_per_thread = 128});
  EXPECT_EQ(some.why(),
            "4 blocks an SM, 16 of 64 warps (25.0 %), limited by registers: 128 registers a thread "
            "are 16384 a block, of 65536");
  // Five warps take the registers of eight: one partition holds two of them.
  const Occupancy odd = occupancy({9, 0}, {.threads_per_block = 160, .registers_per_thread = 255});
  EXPECT_EQ(odd.why(),
            "1 block an SM, 5 of 64 warps (7.81 %), limited by registers: 255 registers a thread "
            "are 65536 a block, of 65536");
  const Occupancy none = occupancy({9, 0}, {.threads_per_block = 1024, .registers_per_thread = 65});
  EXPECT_EQ(none.blocks_per_sm, 0);
  EXPECT_EQ(none.why(),
            "no block fits, limited by registers: 65 registers a thread are 73728 a block, of "
            "65536");
  const Occupancy shared = occupancy(
      {12, 0},
      {.threads_per_block = 32, .registers_per_thread = 32, .dynamic_shared_bytes = 102400});
  EXPECT_NE(shared.why().find("102400 bytes of shared memory; allowed are 101376"),
            std::string::npos)
      << shared.why();
}

void expect_refused(ErrorCode code, const std::string& words, ComputeCapability capability,
                    const BlockNeeds& needs) {
  try {
    occupancy(capability, needs);
    FAIL() << "accepted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Occupancy, RefusesWhatNoLaunchCanHave) {
  const ErrorCode bad = ErrorCode::bad_input;
  const BlockNeeds good{.threads_per_block = 128, .registers_per_thread = 32};
  const auto with = [&](auto change) {
    BlockNeeds needs = good;
    change(needs);
    return needs;
  };
  expect_refused(bad, "threads_per_block is 0; allowed are 1 to 1024", {9, 0},
                 with([](auto& n) { n.threads_per_block = 0; }));
  expect_refused(bad, "threads_per_block is 1025", {9, 0},
                 with([](auto& n) { n.threads_per_block = 1025; }));
  expect_refused(bad, "registers_per_thread is 256; allowed are 1 to 255", {9, 0},
                 with([](auto& n) { n.registers_per_thread = 256; }));
  expect_refused(bad, "static_shared_bytes is -1", {9, 0},
                 with([](auto& n) { n.static_shared_bytes = -1; }));
  expect_refused(bad, "barriers_per_block is 17", {9, 0},
                 with([](auto& n) { n.barriers_per_block = 17; }));
  expect_refused(ErrorCode::unsupported, "known: 8.0, 8.6, 8.7, 8.9, 9.0, 10.0", {7, 5}, good);
}

TEST(Occupancy, HugeSharedMemoryIsAnAnswer) {
  const Occupancy result = occupancy({9, 0}, {.threads_per_block = 32,
                                              .registers_per_thread = 32,
                                              .dynamic_shared_bytes = std::int64_t{1} << 40});
  EXPECT_EQ(result.blocks_per_sm, 0);
  EXPECT_TRUE(result.binds(OccupancyFactor::shared_memory));
}

}  // namespace
}  // namespace rooftile
