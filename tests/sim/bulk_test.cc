// SPDX-License-Identifier: Apache-2.0
// Bulk copies of bytes in the simulator, reductions, and copies between blocks of a cluster.
#include "fault_test_support.h"
#include "rooftile/formats/bf16.h"

extern const rooftile::KernelTable bulk_kernels;

namespace rooftile {
namespace {

using namespace fault_test;

const LaunchShape kShape{.grid = {1}, .block = {256}};
const LaunchShape kPair{.grid = {2}, .block = {64}, .cluster = {2}};

std::string double_all(const std::string& fault) {
  return "rooftile::bulk_test::double_all<rooftile::bulk_test::" + fault + ">";
}
std::string exchange(const std::string& fault) {
  return "rooftile::bulk_test::exchange<rooftile::bulk_test::" + fault + ">";
}

void expect_fault(const std::string& fault, FindingKind kind,
                  const std::vector<std::string>& words) {
  const DeviceArray<int> in(counted<int>(257));
  const DeviceArray<int> out(std::vector<int>(256));
  expect_finding(kind, words, bulk_kernels, double_all(fault), kShape,
                 static_cast<const int*>(in.data()), out.data());
}

TEST(BulkCopy, CleanAndCounted) {
  const DeviceArray<int> in(counted<int>(256));
  const DeviceArray<int> out(std::vector<int>(256));
  expect_clean(bulk_kernels, double_all("none"), kShape, static_cast<const int*>(in.data()),
               out.data());
  EXPECT_EQ(out.values()[255], 510);
  const SimLaunch done = run_once(bulk_kernels, double_all("none"), kShape, SimOptions{},
                                  static_cast<const int*>(in.data()), out.data());
  EXPECT_EQ(done.counters[SimCounter::bulk_bytes], 2048u);
  EXPECT_EQ(done.counters[SimCounter::l2_read_sectors], 32u);
  EXPECT_EQ(done.counters[SimCounter::global_written_sectors_unique], 32u);
}
TEST(BulkCopy, WithoutAWait) {
  expect_fault("no_wait", FindingKind::missing_wait, {"numbers", "asynchronous copy"});
}
TEST(BulkCopy, Operands) {
  expect_fault("odd_size", FindingKind::bad_operand, {"1020 bytes"});
  expect_fault("misaligned", FindingKind::misaligned, {"4 behind a multiple of 16"});
  expect_fault("beyond_global", FindingKind::out_of_bounds, {"1024 bytes", "past the end"});
}
TEST(BulkCopy, WithoutAProxyFence) {
  expect_fault("no_proxy_fence", FindingKind::missing_fence, {"numbers", "bulk_kernels.cu:"});
}
TEST(BulkCopy, SourceOverwritten) {
  expect_fault("no_read_wait", FindingKind::missing_wait, {"numbers", "asynchronous store"});
}

TEST(BulkReduce, OfManyBlocks) {
  const DeviceArray<float> sums(std::vector<float>(64, 0.5f));
  const DeviceArray<bf16> halves(std::vector<bf16>(64, bf16{0}));
  const DeviceArray<std::int32_t> least(std::vector<std::int32_t>(64, 100));
  const LaunchShape shape{.grid = {10}, .block = {64}};
  const SimLaunch done = run_once(bulk_kernels, "rooftile::bulk_test::add_all", shape, SimOptions{},
                                  sums.data(), halves.data(), least.data());
  EXPECT_TRUE(done.findings.empty()) << all_findings(done);
  EXPECT_EQ(sums.values()[63], 640.5f);
  EXPECT_EQ(static_cast<float>(halves.values()[5]), 10.0f);
  EXPECT_EQ(least.values()[7], -7);
}

TEST(BulkCluster, Exchange) {
  const DeviceArray<int> out(std::vector<int>(128));
  expect_clean(bulk_kernels, exchange("none"), kPair, out.data());
  EXPECT_EQ(out.values()[3], 103 + 5000 + 40000);
  EXPECT_EQ(out.values()[64 + 3], 3 + 6000 + 40000);
  expect_finding(FindingKind::missing_wait, {"theirs", "bulk_kernels.cu:"}, bulk_kernels,
                 exchange("no_wait"), kPair, out.data());
  expect_finding(FindingKind::bad_operand, {"different blocks"}, bulk_kernels,
                 exchange("other_barrier"), kPair, out.data());
}

TEST(BulkCluster, BlocksEndWhenTheirPartIsDone) {
  const DeviceArray<int> out(std::vector<int>(64));
  const auto send = [](int how) {
    return "rooftile::bulk_test::send<" + std::to_string(how) + ">";
  };
  for (const int how : {0, 2, 3, 4}) expect_clean(bulk_kernels, send(how), kPair, out.data());
  EXPECT_EQ(out.values(), counted<int>(64));
  const std::vector<std::string> words{"mine + 0 of block (0,0,0)", "may have ended"};
  expect_finding(FindingKind::out_of_bounds, words, bulk_kernels, send(1), kPair, out.data());
  const DeviceArray<int> both(std::vector<int>(128));
  expect_finding(FindingKind::out_of_bounds, words, bulk_kernels, exchange("block_leaves"), kPair,
                 both.data());
}

TEST(BulkCluster, Reduce) {
  const DeviceArray<std::uint32_t> out(std::vector<std::uint32_t>(4));
  expect_clean(bulk_kernels, "rooftile::bulk_test::count_in_cluster", kPair, out.data());
  EXPECT_EQ(out.values(), (std::vector<std::uint32_t>{12, 14, 16, 18}));
}

}  // namespace
}  // namespace rooftile
