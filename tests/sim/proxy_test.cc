// SPDX-License-Identifier: Apache-2.0
// Proxy fences: each counts for its memory alone, and where it lies between the store and the copy.
#include "fault_test_support.h"

extern const rooftile::KernelTable proxy_kernels;

namespace rooftile {
namespace {

using namespace fault_test;

constexpr std::uint32_t kThreads = 64;
const LaunchShape kOne{.grid = {1}, .block = {kThreads}};
const LaunchShape kTwo{.grid = {2}, .block = {kThreads}};
const LaunchShape kPair{.grid = {2}, .block = {kThreads}, .cluster = {2}};

/// Under every schedule: a proxy fence is missing, or nothing is wrong.
void expect_fenced(bool is_right, const std::string& kernel, const LaunchShape& shape) {
  for (const SimOptions& options : all_options()) {
    const DeviceArray<int> data(std::vector<int>(std::size_t{kThreads}));
    const DeviceArray<int> out(std::vector<int>(std::size_t{kThreads}));
    const DeviceArray<unsigned> flag(std::vector<unsigned>(1));
    const SimLaunch done =
        run_once(proxy_kernels, kernel, shape, options, data.data(), out.data(), flag.data());
    EXPECT_EQ(done.findings.empty(), is_right) << kernel << " " << all_findings(done);
    if (!is_right) {
      EXPECT_TRUE(sim_test::has(done, FindingKind::missing_fence)) << kernel << all_findings(done);
    }
  }
}

TEST(ProxyFence, OfTheRightMemory) {
  const auto expect = [](bool is_right, const std::string& memory, const std::string& fence) {
    expect_fenced(is_right, "copy_from_" + memory + "<Fence::" + fence + ">", kOne);
  };
  for (const char* memory : {"shared", "global"}) {
    expect(false, memory, "none");
    expect(true, memory, "all");
  }
  expect(true, "shared", "shared");
  expect(false, "shared", "global");
  expect(false, "global", "shared");
  expect(true, "global", "global");
}

TEST(ProxyFence, BeforeWhatOverwrites) {
  expect_fenced(true, "overwrite_shared<false, Fence::none>", kOne);
  expect_fenced(false, "overwrite_shared<true, Fence::none>", kOne);
  expect_fenced(true, "overwrite_shared<true, Fence::shared>", kOne);
  expect_fenced(false, "overwrite_global<Fence::none>", kOne);
  expect_fenced(false, "overwrite_global<Fence::shared>", kOne);
  expect_fenced(true, "overwrite_global<Fence::global>", kOne);
  expect_fenced(true, "overwrite_global<Fence::all>", kOne);
}

TEST(ProxyFence, OfWhomever) {
  for (const char* barrier : {"false", "true"}) {
    const auto expect = [&](bool is_right, const std::string& by) {
      expect_fenced(is_right, "fenced_by<By::" + by + ", " + barrier + ">", kOne);
    };
    expect(false, "nobody");
    expect(false, "writers_late");
    expect(true, "issuer");
    expect(true, "another");
    expect(false, "issuer_early");
  }
}

TEST(ProxyFence, OfAnotherBlocksData) {
  const auto expect = [](bool is_right, const std::string& fences) {
    expect_fenced(is_right, "of_other_block<" + fences + ">", kTwo);
  };
  expect(false, "Fence::none, false, Fence::none");
  expect(false, "Fence::none, true, Fence::none");
  expect(true, "Fence::global, false, Fence::none");
  expect(true, "Fence::none, false, Fence::global");
  expect(false, "Fence::shared, true, Fence::shared");
  expect_fenced(false, "counted<Fence::none>", kTwo);
  expect_fenced(true, "counted<Fence::global>", kTwo);
}

TEST(ProxyFence, OfWhatAPeerWrote) {
  const auto expect = [](bool is_right, const std::string& fences) {
    expect_fenced(is_right, "written_by_peer<" + fences + ">", kPair);
  };
  expect(false, "Fence::none, Fence::none, Fence::none");
  expect(false, "Fence::none, Fence::all, Fence::none");
  expect(true, "Fence::all, Fence::none, Fence::none");
  expect(true, "Fence::none, Fence::none, Fence::shared");
}

}  // namespace
}  // namespace rooftile
