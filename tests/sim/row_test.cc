// SPDX-License-Identifier: Apache-2.0
// What is known of 512 bytes at once (shadow.h) is known of each lane's: right kernels have no
// findings, and a race of one lane is found.
#include <gtest/gtest.h>

#include "rooftile/device/sim/shadow.h"
#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable row_kernels;

namespace rooftile::sim_test {
namespace {

struct Kernel {
  const char* name;
  int faults;
  LaunchShape shape = {.grid = {1}, .block = {64}};
};
const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> list{
      {"own_rows", 1, {.grid = {3}, .block = {64}}},
      {"hand_over", 2},
      {"read_by_all", 2, {.grid = {3}, .block = {32}}},
      {"read_in_cluster", 1, {.grid = {2}, .block = {32}, .cluster = {2}}},
      {"write_in_cluster", 1, {.grid = {2}, .block = {32}, .cluster = {2}}},
      {"read_by_both", 1},
      {"halves", 1},
      {"read_again", 1},
      {"write_again", 1},
      {"neighbours", 1},
      {"constants", 1},
      {"two_lines", 1}};
  return list;
}

SimLaunch run(const SimOptions& options, const Kernel& kernel, int fault, bool is_written = true) {
  constexpr std::int64_t kFloats = 4 * 256;
  SimOptions one_thread = options;  // so that what is found does not depend on the host
  one_thread.os_threads = 1;
  Simulated sim;
  sim.device->set_options(one_thread);
  float* rows =
      is_written ? sim.memory(std::vector<float>(kFloats, 1.0f)) : sim.memory<float>(kFloats);
  return sim.run(row_kernels, std::string(kernel.name) + "<" + std::to_string(fault) + ">",
                 kernel.shape, rows);
}

TEST(SimRow, RightKernelsHaveNoFindings) {
  for (const Kernel& kernel : kernels())
    for (const SimOptions& options : schedules(20))
      EXPECT_EQ(findings(run(options, kernel, 0)), "") << kernel.name << ", " << text(options);
}

TEST(SimRow, RacesOfSomeLanesAreFound) {
  for (const Kernel& kernel : kernels())
    for (int fault = 1; fault <= kernel.faults; ++fault)
      for (const SimOptions& options : schedules(20))
        EXPECT_TRUE(has(run(options, kernel, fault), FindingKind::race))
            << kernel.name << " " << fault << ", " << text(options);
}

TEST(SimRow, FindingsNameTheLaneAndTheLine) {
  const auto expect = [&](const Kernel& kernel, const std::string& what) {
    const std::string text = findings(run({}, kernel, 1));
    EXPECT_NE(text.find(what), std::string::npos) << what << "\n" << text;
  };
  const std::string file = " at row_kernels.cu:";
  expect({"halves", 1}, "thread 48 writes byte 256 ");
  expect({"halves", 1}, "thread 16 read" + file);
  expect({"read_again", 1}, "thread 32 writes byte 0 ");
  expect({"read_again", 1}, "thread 0 read" + file);
  expect({"write_again", 1}, "thread 0 wrote" + file);
  expect({"hand_over", 1}, "thread 0 wrote" + file);
  expect({"two_lines", 1}, "thread 0 wrote" + file);
  expect({"two_lines", 1}, "thread 16 wrote" + file);  // another line: else it is not said again
}

// Two threads of the host use the same rows at the same time.
TEST(SimRow, WorkersAtTheSameRowAreKeptApart) {
  constexpr int kRows = 1500;
  for (const SimOptions& options : schedules(4)) {
    SimOptions two = options;
    two.os_threads = 2;
    Simulated sim;
    sim.device->set_options(two);
    float* rows = sim.memory(std::vector<float>(kRows * 1024, 1.0f));
    auto* meetings = sim.memory(std::vector<unsigned>(1, 0));
    EXPECT_EQ(
        findings(sim.run(row_kernels, "halves_of_blocks", {{2}, {32}}, rows, meetings, kRows)), "")
        << text(two);
  }
}

TEST(SimRow, WhatNobodyWroteIsNamed) {
  EXPECT_TRUE(has(run({}, kernels()[0], 0, false), FindingKind::uninitialised));
}

using sim::Epoch;
using sim::Row;
using sim::Shadow;

TEST(SimShadow, CellsKnowWhatTheirRowKnew) {
  Shadow shadow(1 << 16);
  Row* const row = shadow.own_row(Row::kBytes, Shadow::row_owner(3, 0));
  ASSERT_NE(row, nullptr);
  row->write.begin(Epoch::make(3, 5, 64, 7));
  row->write.add(0b100, 9);
  row->write.add(0b001, 9);
  row->read.begin(Epoch::make(3, 6, 32, 1));
  row->read.add(0b10, 8);
  const Shadow::Range cells = shadow.cells(Row::kBytes, Row::kBytes);
  EXPECT_EQ(shadow.row(Row::kBytes), nullptr);
  ASSERT_EQ(cells.count, Row::kLanes);
  EXPECT_EQ(cells[0].write.bits, Epoch::make(3, 5, 64, 7).bits);
  EXPECT_EQ(cells[2].write.bits, Epoch::make(3, 5, 66, 7).bits);
  EXPECT_EQ(cells[2].write_pc, 9u);
  EXPECT_EQ(cells[1].write.bits, 0u);
  EXPECT_EQ(cells[1].read.bits, Epoch::make(3, 6, 33, 1).bits);
  EXPECT_EQ(cells[1].read_pc, 8u);
  EXPECT_EQ(cells[0].read.bits, 0u);
  EXPECT_EQ(shadow.cells(Row::kBytes + 32, 1)[0].write.bits, Epoch::make(3, 5, 66, 7).bits);
}

TEST(SimShadow, RowsBeginAnewInALaunch) {
  Row row;
  row.write.begin(Epoch::make(1, 5, 64, 7));
  row.write.add(0b100, 9);
  row.write.begin(Epoch::make(2, 5, 64, 7));
  EXPECT_FALSE(row.write.has_any());
  EXPECT_EQ(row.write.epoch().bits, Epoch::make(2, 5, 64, 7).bits);
}

TEST(SimShadow, RowsOfAPageAreOneWorkersInALaunch) {
  Shadow shadow(1 << 16);
  const auto own = [&](std::uint32_t launch, std::size_t worker, std::uint64_t offset) {
    return shadow.own_row(offset, Shadow::row_owner(launch, worker)) != nullptr;
  };
  EXPECT_TRUE(own(1, 0, 0));
  EXPECT_FALSE(own(1, 1, Row::kBytes));
  EXPECT_TRUE(own(1, 1, sim::kShadowPageBytes));
  EXPECT_TRUE(own(1, 0, Row::kBytes));
  EXPECT_TRUE(own(2, 1, 0));
  EXPECT_FALSE(own(2, 0, 0));
  shadow.cells(0, 16);
  EXPECT_FALSE(own(2, 1, 0));
  EXPECT_FALSE(own(3, 1, 0));
}

TEST(SimShadow, FreedMemoryForgets) {
  constexpr std::uint64_t kPage = sim::kShadowPageBytes, kOther = 250 * kPage;
  const std::uint32_t owner = Shadow::row_owner(1, 0);
  for (const std::uint64_t pages : {1, 2, 201}) {
    Shadow shadow(256 * kPage);
    const std::uint64_t first = kPage, last = first + pages * kPage - 16;
    for (const std::uint64_t at : {std::uint64_t{0}, first, last, last + 16}) {
      shadow.cells(at, 16)[0].write = Epoch::make(1, 1, 1, 1);
      shadow.cells(at, 16)[0].read_pc = 1;
    }
    shadow.own_row(kOther, owner)->write.add(1, 1);
    shadow.clear(first, pages * kPage);
    for (const std::uint64_t at : {first, last}) EXPECT_NE(shadow.row(at), nullptr) << pages;
    for (const std::uint64_t at : {first, last}) {
      EXPECT_EQ(shadow.cells(at, 16)[0].write.bits, 0u) << pages;
      EXPECT_EQ(shadow.cells(at, 16)[0].read_pc, 0u) << pages;
    }
    EXPECT_NE(shadow.cells(0, 16)[0].write.bits, 0u) << pages;
    EXPECT_NE(shadow.cells(last + 16, 16)[0].write.bits, 0u) << pages;
    EXPECT_TRUE(shadow.row(kOther)->write.has_any());
    shadow.clear(kOther, kPage);
    EXPECT_FALSE(shadow.row(kOther)->write.has_any());
  }
}

}  // namespace
}  // namespace rooftile::sim_test
