// SPDX-License-Identifier: Apache-2.0
#include "fault_test_support.h"

extern const rooftile::KernelTable mbarrier_kernels;

namespace rooftile {
namespace {

using namespace fault_test;

const LaunchShape kOneBlock{.grid = {1}, .block = {64}};

std::string hand_over(const std::string& fault) {
  return "rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::" + fault + ">";
}

void expect_fault(const std::string& fault, FindingKind kind,
                  const std::vector<std::string>& words) {
  const DeviceArray<int> out(std::vector<int>(64));
  expect_finding(kind, words, mbarrier_kernels, hand_over(fault), kOneBlock, out.data(), 3);
}

TEST(Mbarrier, HandsOver) {
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, hand_over("none"), kOneBlock, out.data(), 5);
  std::vector<int> expected(64, 10 + 11 + 12 + 13 + 14);
  expected[0] = 0;
  EXPECT_EQ(out.values(), expected);
}

TEST(Mbarrier, TokensAndPolling) {
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, "rooftile::mbarrier_test::tokens", kOneBlock, out.data());
  EXPECT_EQ(out.values()[0], 63 * 2 + 5);
  EXPECT_EQ(out.values()[63], 0);
}

TEST(Mbarrier, AcrossACluster) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, "rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::none>",
               shape, out.data());
  EXPECT_EQ(out.values()[0], 2);
  EXPECT_EQ(out.values()[32], 1);
  expect_finding(FindingKind::race, {"mbarrier_kernels.cu:"}, mbarrier_kernels,
                 "rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::no_wait>", shape,
                 out.data());
  expect_finding(FindingKind::deadlock, {"to_peer", "1 of 1 arrivals missing"}, mbarrier_kernels,
                 "rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::no_arrival_of_peer>",
                 shape, out.data());
}

// A barrier of the cluster that does not release only says who is there.
TEST(Mbarrier, ARelaxedMeetingShowsNobodysWrites) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, "rooftile::mbarrier_test::meet_peer<true>", shape, out.data());
  EXPECT_EQ(out.values()[40], 7);
  expect_finding(FindingKind::race, {"mbarrier_kernels.cu:", "number"}, mbarrier_kernels,
                 "rooftile::mbarrier_test::meet_peer<false>", shape, out.data());
}

// Both sides must have the cluster's scope for writes to be seen.
TEST(Mbarrier, AFencedInitIsKnownBehindARelaxedMeeting) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, "rooftile::mbarrier_test::meet_after_init<true>", shape,
               out.data());
  EXPECT_EQ(out.values(), std::vector<int>(64, 1));
  expect_finding(FindingKind::race, {"mbarrier_kernels.cu:", "barrier"}, mbarrier_kernels,
                 "rooftile::mbarrier_test::meet_after_init<false>", shape, out.data());
}

TEST(Mbarrier, WritesAreSeenWithTheScopeOfTheClusterOnly) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  for (const std::string fault : {"arrival_of_block", "wait_of_block"})
    expect_finding(FindingKind::race, {"mbarrier_kernels.cu:", "number"}, mbarrier_kernels,
                   "rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::" + fault + ">",
                   shape, out.data());
}

// That a place was read is known with any scope; and a block must not end before it is.
TEST(Mbarrier, SharedMemoryOfAPeerLastsUntilThePeerEnds) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  const std::string kernel = "rooftile::mbarrier_test::read_peer<rooftile::mbarrier_test::";
  expect_clean(mbarrier_kernels, kernel + "none>", shape, out.data());
  EXPECT_EQ(out.values()[0], 6);
  EXPECT_EQ(out.values()[32], 5);
  expect_finding(FindingKind::out_of_bounds, {"number + 0 of block", "ended"}, mbarrier_kernels,
                 kernel + "ends_early>", shape, out.data());
  expect_finding(FindingKind::race, {"number"}, mbarrier_kernels, kernel + "no_wait>", shape,
                 out.data());
}

TEST(Mbarrier, ABarrierOfTheClusterIsOfThoseThatHaveNotReturned) {
  const LaunchShape shape{.grid = {2}, .block = {32}, .cluster = {2}};
  const DeviceArray<int> out(std::vector<int>(64));
  expect_clean(mbarrier_kernels, "rooftile::mbarrier_test::meet_without_the_others", shape,
               out.data());
  EXPECT_EQ(out.values()[47], 3);
}

TEST(Mbarrier, WithoutAWait) {
  expect_fault("no_wait", FindingKind::race, {"mbarrier_kernels.cu:", "number"});
}
TEST(Mbarrier, WrongParityDoesNotWait) {
  // It reads too early, or waits for a phase that does not come.
  const DeviceArray<int> out(std::vector<int>(64));
  expect_some_finding(mbarrier_kernels, hand_over("wrong_parity"), kOneBlock, out.data(), 3);
}
TEST(Mbarrier, ParityIsZeroOrOne) {
  expect_fault("bad_parity", FindingKind::bad_operand, {"parity of 2"});
}
TEST(Mbarrier, TooManyArrivals) {
  expect_fault("too_many_arrivals", FindingKind::barrier_misuse, {"2 arrivals", "of 1"});
}
TEST(Mbarrier, NotInitialised) {
  expect_fault("no_init", FindingKind::barrier_misuse, {"not initialised", "full + 0"});
}
TEST(Mbarrier, Misaligned) { expect_fault("misaligned", FindingKind::misaligned, {"full + 4"}); }
TEST(Mbarrier, InitialisedAgain) {
  expect_fault("init_again", FindingKind::barrier_misuse, {"in use", "mbarrier_kernels.cu:"});
}
TEST(Mbarrier, NobodyArrives) {
  expect_fault("no_arrival", FindingKind::deadlock,
               {"parity 0", "phase 0, 1 of 1 arrivals missing, 0 bytes"});
}
TEST(Mbarrier, UsedBeforeOthersKnowOfTheInit) {
  const DeviceArray<int> out(std::vector<int>(64));
  const SimLaunch done = run_once(mbarrier_kernels, hand_over("no_sync_after_init"), kOneBlock,
                                  SimOptions{}, out.data(), 3);
  ASSERT_FALSE(done.findings.empty());
  EXPECT_EQ(done.findings[0].kind, FindingKind::race) << all_findings(done);
}
TEST(Mbarrier, Overwritten) {
  expect_fault("overwritten", FindingKind::barrier_misuse, {"overwritten since its init"});
}

}  // namespace
}  // namespace rooftile
