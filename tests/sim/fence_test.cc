// SPDX-License-Identifier: Apache-2.0
// Fences and scopes, by the rules of PTX's memory consistency model: each message is ordered where
// the scopes of both sides have the other's thread, and a race elsewhere.
#include <gtest/gtest.h>

#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable fence_kernels;

namespace rooftile::sim_test {
namespace {

/// Where the reader of a message is, as seen from the writer.
enum Place { same_block, same_cluster, elsewhere };

LaunchShape shape_of(Place place) {
  switch (place) {
    case same_block:
      return {{1}, {64}};
    case same_cluster:
      return {.grid = {2}, .block = {64}, .cluster = {2}};
    case elsewhere:
      break;
  }
  return {.grid = {4}, .block = {64}, .cluster = {2}};
}

bool is_race(const SimOptions& options, const std::string& kernel, const LaunchShape& shape) {
  Simulated sim;
  sim.device->set_options(options);
  const SimLaunch launch = sim.run(fence_kernels, kernel, shape, sim.memory<float>(32),
                                   sim.memory(std::vector<int>(64, 0)), sim.memory<float>(1));
  EXPECT_FALSE(has(launch, FindingKind::livelock)) << findings(launch);
  return has(launch, FindingKind::race);
}

/// `far`: the farthest reader that is ordered; none where that is -1.
void expect_ordered_to(int far, const std::string& kernel) {
  for (const SimOptions& options : schedules(3))
    for (const Place place : {same_block, same_cluster, elsewhere})
      EXPECT_EQ(is_race(options, kernel, shape_of(place)), place > far)
          << kernel << " to place " << place << ", " << text(options);
}

TEST(SimFence, ScopesOfFences) {
  const auto of = [](const char* writer, const char* reader, const char* scope) {
    return std::string("relaxed<Fence::") + writer + ", Fence::" + reader +
           ", StrongScope::" + scope + ">";
  };
  expect_ordered_to(same_block, of("block", "block", "device"));
  expect_ordered_to(same_cluster, of("cluster", "cluster", "device"));
  expect_ordered_to(elsewhere, of("device", "device", "device"));
  expect_ordered_to(same_cluster, of("cluster", "device", "device"));
  expect_ordered_to(same_cluster, of("device", "cluster", "device"));
  expect_ordered_to(same_block, of("device", "block", "device"));
  expect_ordered_to(same_cluster, of("device", "device", "cluster"));
  expect_ordered_to(-1, of("none", "device", "device"));
  expect_ordered_to(-1, of("device", "none", "device"));
}

TEST(SimFence, ScopesOfReleasesAndAcquires) {
  expect_ordered_to(elsewhere, "ordered<StrongScope::device, StrongScope::device>");
  expect_ordered_to(same_cluster, "ordered<StrongScope::cluster, StrongScope::cluster>");
  expect_ordered_to(same_cluster, "ordered<StrongScope::cluster, StrongScope::device>");
  expect_ordered_to(same_cluster, "ordered<StrongScope::device, StrongScope::cluster>");
}

TEST(SimFence, VolatileVariablesAreRelaxed) {
  expect_ordered_to(elsewhere, "of_volatile<Fence::device, Fence::device>");
  expect_ordered_to(-1, "of_volatile<Fence::none, Fence::device>");
  expect_ordered_to(-1, "of_volatile<Fence::device, Fence::none>");
}

TEST(SimFence, WhatComesBetween) {
  for (const SimOptions& options : schedules(3)) {
    const LaunchShape three{{3}, {64}};
    EXPECT_FALSE(is_race(options, "through_another<true>", three)) << text(options);
    EXPECT_TRUE(is_race(options, "through_another<false>", three)) << text(options);
  }
}

TEST(SimFence, FencesPassOnWhatTheirThreadKnows) {
  expect_ordered_to(elsewhere, "of_lanes<0>");
  expect_ordered_to(-1, "of_lanes<1>");
}

TEST(SimFence, FlagsInSharedMemory) {
  for (const SimOptions& options : schedules(3))
    for (int fault = 0; fault < 3; ++fault) {
      Simulated sim;
      sim.device->set_options(options);
      const std::string kernel = "shared_flag<" + std::to_string(fault) + ">";
      const SimLaunch launch = sim.run(fence_kernels, kernel, {{1}, {64}}, sim.memory<float>(1));
      EXPECT_EQ(has(launch, FindingKind::race), fault != 0) << kernel << findings(launch);
    }
}

}  // namespace
}  // namespace rooftile::sim_test
