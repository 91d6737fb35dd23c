// SPDX-License-Identifier: Apache-2.0
// What is known of 512 bytes at once (shadow.h) is known of each lane's: right kernels have no
// findings, and a race of one lane is found.
#include <gtest/gtest.h>

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
      {"constants", 1}};
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
}

TEST(SimRow, WhatNobodyWroteIsNamed) {
  EXPECT_TRUE(has(run({}, kernels()[0], 0, false), FindingKind::uninitialised));
}

}  // namespace
}  // namespace rooftile::sim_test
