// SPDX-License-Identifier: Apache-2.0
// The roof over a cost: bandwidth by access mix, the floor of a time, and the data sheet's floor.
#include "rooftile/device/ceilings.h"

#include "gtest/gtest.h"

namespace rooftile {
namespace {

// Shares of an H200's 4.8 TB/s by mix, as TileOPs measured them (its pull request 1993).
Ceilings example() {
  Ceilings ceilings;
  ceilings.read.per_s = 4500e9;
  ceilings.triad.per_s = 4050e9;
  ceilings.copy.per_s = 3930e9;
  ceilings.write.per_s = 4290e9;
  ceilings.units[static_cast<std::size_t>(Unit::bf16)] = Ceiling{800e12, 0.01, "probe"};
  ceilings.units[static_cast<std::size_t>(Unit::fp32)] = Ceiling{60e12, 0.01, "probe"};
  return ceilings;
}

TEST(BytesPerSecond, MeetsTheMeasuredMixes) {
  const Ceilings ceilings = example();
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(0), 4500e9);
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(1.0 / 3), 4050e9);
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(0.5), 3930e9);
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(1), 4290e9);
}

TEST(BytesPerSecond, IsLinearBetweenThem) {
  const Ceilings ceilings = example();
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(1.0 / 6), (4500e9 + 4050e9) / 2);
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(5.0 / 12), (4050e9 + 3930e9) / 2);
  EXPECT_DOUBLE_EQ(ceilings.bytes_per_s(0.75), (3930e9 + 4290e9) / 2);
}

TEST(FloorOf, IsTheLargerOfBytesAndOperations) {
  Cost cost;
  cost.bytes_read = 4500e3;  // 1 us
  const Floor memory = floor_of(cost, example());
  EXPECT_DOUBLE_EQ(memory.time_us, 1);
  EXPECT_EQ(memory.bound, Bound::memory);
  cost[Unit::bf16] = 1600e6;  // 2 us
  const Floor compute = floor_of(cost, example());
  EXPECT_DOUBLE_EQ(compute.time_us, 2);
  EXPECT_DOUBLE_EQ(compute.memory_us, 1);
  EXPECT_DOUBLE_EQ(compute.compute_us, 2);
  EXPECT_EQ(compute.bound, Bound::compute);
}

TEST(FloorOf, UsesTheMixOfTheCost) {
  Cost cost;
  cost.bytes_read = cost.bytes_written = 1965e3;
  EXPECT_DOUBLE_EQ(floor_of(cost, example()).time_us, 1);
}

TEST(FloorOf, LetsUnitsOverlap) {
  Cost cost;
  cost[Unit::bf16] = 800e6;  // 1 us
  cost[Unit::fp32] = 60e6;   // 1 us, at the same time
  EXPECT_DOUBLE_EQ(floor_of(cost, example()).time_us, 1);
  cost[Unit::fp32] = 180e6;
  EXPECT_DOUBLE_EQ(floor_of(cost, example()).time_us, 3);
}

TEST(FloorOf, SaysNothingOfWhatIsNotKnown) {
  Cost cost;
  EXPECT_EQ(floor_of(cost, example()).bound, Bound::none);
  cost[Unit::fp8] = 1e12;
  EXPECT_EQ(floor_of(cost, example()).bound, Bound::none);
  EXPECT_EQ(floor_of(cost, example()).time_us, 0);
  cost.bytes_read = 1e9;
  EXPECT_EQ(floor_of(cost, Ceilings{}).bound, Bound::none);
  EXPECT_EQ(floor_of(cost, Ceilings{}).time_us, 0);
}

TEST(SheetFloor, IsOfTheDataSheetAlone) {
  Cost cost;
  cost.bytes_read = 4800e3;
  cost[Unit::bf16] = 989.4e6 * 3;
  EXPECT_EQ(sheet_floor_us(cost, example()), 0);
  Ceilings ceilings = example();
  ceilings.sheet_bytes_per_s = 4800e9;
  EXPECT_DOUBLE_EQ(sheet_floor_us(cost, ceilings), 1);
  ceilings.sheet_ops_per_s[static_cast<std::size_t>(Unit::bf16)] = 989.4e12;
  EXPECT_DOUBLE_EQ(sheet_floor_us(cost, ceilings), 3);
}

TEST(Cost, SumsAndDivides) {
  Cost cost;
  EXPECT_EQ(cost.intensity(), 0);
  cost[Unit::fp32] = 30;
  cost[Unit::special] = 10;
  cost.bytes_read = 6;
  cost.bytes_written = 2;
  EXPECT_EQ(cost.total_ops(), 40);
  EXPECT_EQ(cost.bytes(), 8);
  EXPECT_EQ(cost.intensity(), 5);
  EXPECT_EQ(name(Unit::fp64), "fp64");
  EXPECT_EQ(name(Unit::special), "special");
}

}  // namespace
}  // namespace rooftile
