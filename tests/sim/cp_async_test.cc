// SPDX-License-Identifier: Apache-2.0
#include "fault_test_support.h"

extern const rooftile::KernelTable cp_async_kernels;

namespace rooftile {
namespace {

using namespace fault_test;

const LaunchShape kShape{.grid = {1}, .block = {64}};
constexpr int kTiles = 3;

struct Float4 {
  float x, y, z, w;
};

std::string neighbours(const std::string& fault) {
  return "rooftile::cp_async_test::neighbours<rooftile::cp_async_test::" + fault + ">";
}

std::vector<Float4> tiles() {
  std::vector<Float4> all(kTiles * 64);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {static_cast<float>(i), static_cast<float>(i) * 1000, 0, 0};
  return all;
}

void expect_fault(const std::string& fault, FindingKind kind,
                  const std::vector<std::string>& words) {
  const DeviceArray<Float4> in(tiles());
  const DeviceArray<float> out(std::vector<float>(64));
  expect_finding(kind, words, cp_async_kernels, neighbours(fault), kShape,
                 static_cast<const Float4*>(in.data()), out.data(), kTiles);
}

TEST(CpAsync, CleanAndCounted) {
  const DeviceArray<Float4> in(tiles());
  const DeviceArray<float> out(std::vector<float>(64));
  expect_clean(cp_async_kernels, neighbours("none"), kShape, static_cast<const Float4*>(in.data()),
               out.data(), kTiles);
  EXPECT_EQ(out.values()[3], 3 + 67 + 131 + 1000.0f * (60 + 124 + 188));
  const SimLaunch done = run_once(cp_async_kernels, neighbours("none"), kShape, SimOptions{},
                                  static_cast<const Float4*>(in.data()), out.data(), kTiles);
  EXPECT_EQ(done.counters[SimCounter::cp_async_bytes], 3072u);
  EXPECT_EQ(done.counters[SimCounter::cp_async_requests], 6u);
  EXPECT_EQ(done.counters[SimCounter::global_load_requests], 6u);
  EXPECT_EQ(done.counters[SimCounter::global_load_sectors], 96u);
  EXPECT_EQ(done.counters[SimCounter::global_read_sectors_unique], 96u);
}
TEST(CpAsync, WithoutAWait) {
  expect_fault("no_wait", FindingKind::missing_wait, {"buffer", "cp.async of warp"});
  expect_fault("waits_for_too_few", FindingKind::missing_wait, {"buffer"});
  expect_fault("never_waits", FindingKind::missing_wait, {"never waited for"});
}
TEST(CpAsync, OthersNeedABarrierToo) {
  const DeviceArray<Float4> in(tiles());
  const DeviceArray<float> out(std::vector<float>(64));
  expect_some_finding(cp_async_kernels, neighbours("no_sync"), kShape,
                      static_cast<const Float4*>(in.data()), out.data(), kTiles);
}
TEST(CpAsync, Operands) {
  expect_fault("misaligned", FindingKind::misaligned, {"the source is 4 behind a multiple of 16"});
  expect_fault("beyond_global", FindingKind::out_of_bounds, {"past the end"});
}
TEST(CpAsync, ZerosAndMbarriers) {
  const DeviceArray<std::uint32_t> in(counted<std::uint32_t>(128, 1));
  const DeviceArray<std::uint32_t> out(std::vector<std::uint32_t>(256));
  for (const char* kernel :
       {"rooftile::cp_async_test::fill<true>", "rooftile::cp_async_test::fill<false>"}) {
    expect_clean(cp_async_kernels, kernel, LaunchShape{.grid = {1}, .block = {32}},
                 static_cast<const std::uint32_t*>(in.data()), out.data());
    const std::vector<std::uint32_t> all = out.values();
    EXPECT_EQ(std::vector<std::uint32_t>(all.begin() + 16, all.begin() + 24),
              (std::vector<std::uint32_t>{3, 0, 5, 0, 9, 10, 11, 0}));
  }
}

}  // namespace
}  // namespace rooftile
