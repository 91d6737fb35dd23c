// SPDX-License-Identifier: Apache-2.0
// Blocks of a grid that work together: right kernels have no findings, and none that comes of the
// host's own timing; faults are found under every schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable idiom_kernels;

namespace rooftile::sim_test {
namespace {

constexpr std::uint32_t kBlocks = 4;

SimLaunch run(const SimOptions& options, const std::string& kernel, std::uint32_t blocks) {
  Simulated sim;
  sim.device->set_options(options);
  const std::int64_t count = blocks * 128;
  const auto* in = static_cast<const float*>(
      sim.memory(std::vector<float>(static_cast<std::size_t>(count), 1.0f)));
  auto* out = sim.memory(std::vector<float>(static_cast<std::size_t>(count), 0.0f));
  if (kernel.starts_with("two_groups")) return sim.run(idiom_kernels, kernel, {{1}, {32}}, in, out);
  return sim.run(idiom_kernels, kernel, {{blocks}, {128}}, in, out,
                 sim.memory(std::vector<unsigned>(blocks + 64, 0)), sim.memory<float>(2 * count));
}

struct Idiom {
  const char* kernel;
  int faults;
};
constexpr Idiom kIdioms[] = {{"last_block_adds", 5}, {"rounds_of_grid", 5}, {"running_sum", 3},
                             {"in_turn", 2},         {"two_groups", 1},     {"add_to_row", 3},
                             {"double_row", 2}};

std::string with_fault(const Idiom& idiom, int fault) {
  return std::string(idiom.kernel) + "<" + std::to_string(fault) + ">";
}

TEST(SimIdiom, RightOnesHaveNoFindings) {
  for (const Idiom& idiom : kIdioms)
    for (const SimOptions& options : schedules(10))
      EXPECT_EQ(findings(run(options, with_fault(idiom, 0), kBlocks)), "")
          << idiom.kernel << ", " << text(options);
}

TEST(SimIdiom, FaultsAreFound) {
  for (const Idiom& idiom : kIdioms)
    for (int fault = 1; fault <= idiom.faults; ++fault)
      for (const SimOptions& options : schedules(4))
        EXPECT_FALSE(run(options, with_fault(idiom, fault), kBlocks).findings.empty())
            << with_fault(idiom, fault) << ", " << text(options);
}

// Of two accesses that nothing orders, the later one finds the race: one OS thread says which.
TEST(SimIdiom, AtomicsAreCalledSo) {
  SimOptions options{.order = SimOrder::in_order};
  options.os_threads = 1;
  const std::string later = findings(run(options, "add_to_row<2>", kBlocks));
  EXPECT_NE(later.find(" atomically writes "), std::string::npos) << later;
  EXPECT_NE(later.find(" wrote at "), std::string::npos) << later;
  options.order = SimOrder::reversed;
  const std::string earlier = findings(run(options, "add_to_row<2>", kBlocks));
  EXPECT_NE(earlier.find(" writes "), std::string::npos) << earlier;
  EXPECT_NE(earlier.find(" atomically wrote at "), std::string::npos) << earlier;
}

std::vector<float> order_of_blocks(std::uint64_t seed, std::uint32_t blocks) {
  Simulated sim;
  SimOptions options{.order = SimOrder::random, .seed = seed};
  options.os_threads = 1;
  sim.device->set_options(options);
  auto* out = sim.memory<float>(blocks);
  const float* in = out;
  sim.run(idiom_kernels, "take_tickets", {{blocks}, {32}}, in, out,
          sim.memory(std::vector<unsigned>(1, 0)), out);
  return sim.values(out, blocks);
}

TEST(SimIdiom, BlocksBeginInRandomOrders) {
  for (const std::uint32_t blocks : {2u, 6u, 7u}) {
    std::set<std::vector<float>> orders;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      std::vector<float> order = order_of_blocks(seed, blocks);
      EXPECT_EQ(order, order_of_blocks(seed, blocks));
      orders.insert(order);
      std::sort(order.begin(), order.end());
      for (std::uint32_t i = 0; i < blocks; ++i) EXPECT_EQ(order[i], static_cast<float>(i));
    }
    EXPECT_GE(orders.size(), 2u) << blocks;
  }
}

// More threads of the host than it has processors: one that waits may not have looked again.
TEST(SimIdiom, WaitingIsNoLivelockWhileOthersWork) {
  constexpr std::uint32_t kManyBlocks = 40;
  for (int i = 0; i < 40; ++i) {
    SimOptions options;
    options.os_threads = 16;
    EXPECT_EQ(findings(run(options, "running_sum<0>", kManyBlocks)), "");
  }
}

// Else the loop would never end, and nobody would learn why.
TEST(SimIdiom, AWarpThatAsksInALoopLetsOthersRun) {
  const SimLaunch launch = run({}, "asks_plainly", 1);
  EXPECT_TRUE(has(launch, FindingKind::race)) << findings(launch);
  EXPECT_FALSE(has(launch, FindingKind::livelock));
}

// A launch that is stopped leaves many blocks behind that wait.
TEST(SimIdiom, LivelocksOfManyBlocksAreFound) {
  SimOptions options;
  for (options.os_threads = 1; options.os_threads <= 4; ++options.os_threads)
    EXPECT_TRUE(has(run(options, "never_written", kBlocks), FindingKind::livelock));
}

}  // namespace
}  // namespace rooftile::sim_test
