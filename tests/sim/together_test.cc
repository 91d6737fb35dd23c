// SPDX-License-Identifier: Apache-2.0
// What meets in a warp, a block or a cluster, and what should not.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable together_kernels;

namespace rooftile::sim_test {
namespace {

struct Result {
  SimLaunch launch;
  std::vector<float> out;
};

Result run(const SimOptions& options, const std::string& kernel, std::uint32_t threads,
           std::uint32_t cluster = 1) {
  Simulated sim;
  sim.device->set_options(options);
  const std::int64_t count = std::int64_t{threads} * cluster;
  std::vector<float> in(threads);
  for (std::uint32_t i = 0; i < threads; ++i) in[i] = static_cast<float>(i + 1);
  auto* out = sim.memory(std::vector<float>(static_cast<std::size_t>(count), 0.0f));
  const LaunchShape shape{.grid = {cluster}, .block = {threads}, .cluster = {cluster}};
  SimLaunch launch =
      sim.run(together_kernels, kernel, shape, static_cast<const float*>(sim.memory(in)), out);
  return {std::move(launch), sim.values(out, count)};
}

TEST(SimTogether, LanesGoOnWithoutThoseThatHaveReturned) {
  for (const SimOptions& options : schedules(20)) {
    const Result got = run(options, "returned_lanes_vote", 32);
    EXPECT_EQ(findings(got.launch), "") << text(options);
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_EQ(got.out[i], static_cast<float>((i + 1) % 20 + 1)) << i << ", " << text(options);
  }
}

TEST(SimTogether, TheActiveLanesAreThoseThatCame) {
  for (const SimOptions& options : schedules(4)) {
    const Result got = run(options, "branch_adds_at_once", 32);
    EXPECT_EQ(findings(got.launch), "") << text(options);
    EXPECT_EQ(got.out[0], 11) << text(options);
  }
}

TEST(SimTogether, AShuffleFromALaneOutsideOfItsMaskGivesNoNumber) {
  const Result got = run({}, "shuffle_from_outside", 32);
  EXPECT_EQ(findings(got.launch), "");
  EXPECT_TRUE(std::isnan(got.out[0]));
  EXPECT_EQ(got.out[16], 17);
}

TEST(SimTogether, ReturnedLanesAreNotOrderedByTheOthers) {
  for (const SimOptions& options : schedules(4)) {
    const SimLaunch launch = run(options, "reads_of_returned_lanes", 32).launch;
    EXPECT_TRUE(has(launch, FindingKind::race) || has(launch, FindingKind::uninitialised))
        << text(options);
  }
}

bool misuses(const SimOptions& options, const std::string& kernel, std::uint32_t threads,
             std::uint32_t cluster) {
  return has(run(options, kernel, threads, cluster).launch, FindingKind::barrier_misuse);
}

TEST(SimTogether, MisuseOfAClustersBarrierIsFound) {
  for (const SimOptions& options : schedules(4)) {
    EXPECT_TRUE(misuses(options, "cluster_barrier<0>", 64, 2)) << text(options);
    EXPECT_FALSE(misuses(options, "cluster_barrier<1>", 64, 2)) << text(options);
    EXPECT_TRUE(misuses(options, "cluster_barrier<2>", 64, 2)) << text(options);
  }
}

TEST(SimTogether, ABlockMayNotHaveBegun) {
  for (const SimOptions& options : schedules(4)) {
    const Result got = run(options, "write_to_other<0>", 32, 2);
    EXPECT_EQ(findings(got.launch), "") << text(options);
    EXPECT_EQ(got.out[0], 2);
    EXPECT_EQ(got.out[1], 1);
    const SimLaunch faulty = run(options, "write_to_other<1>", 32, 2).launch;
    EXPECT_NE(findings(faulty).find("may not have begun"), std::string::npos) << text(options);
  }
}

// As they come, those of the named barrier have gone on before the others reach theirs.
TEST(SimTogether, BarrierZeroHasTwoNames) {
  int found = 0;
  for (const SimOptions& options : schedules(4))
    found += misuses(options, "barrier_0_by_number", 128, 1) ? 1 : 0;
  EXPECT_GE(found, 3);
}

}  // namespace
}  // namespace rooftile::sim_test
