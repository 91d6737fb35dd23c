// SPDX-License-Identifier: Apache-2.0
// The quick look at configurations: the fastest is found, one that throws is left out, and ours and
// the vendor's are told apart.
#include "rooftile/workbench/candidates.h"

#include <stdexcept>

#include "gtest/gtest.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

// Configuration i takes times_us[i]; a negative time throws.
KernelDef kernel_taking(const std::string& name, std::vector<double> times_us, bool is_vendor) {
  KernelDef kernel = toy_kernel(run_right, Determinism::repeatable);
  kernel.name = name;
  kernel.calls_vendor_library = is_vendor;
  kernel.configs = [count = std::ssize(times_us)](const Problem&, const DeviceProperties&) {
    std::vector<Config> configs;
    for (std::ptrdiff_t i = 0; i < count; ++i) configs.push_back({{{"variant", i}}});
    return configs;
  };
  kernel.prepare = [times_us](const Problem&, Device&, const Config& config) {
    const double time_us = times_us[static_cast<std::size_t>(config.at("variant"))];
    if (time_us < 0) throw std::runtime_error("cannot");
    return Prepared{.run = right_taking(time_us)};
  };
  return kernel;
}

class Candidates : public testing::Test {
 protected:
  [[nodiscard]] std::optional<Candidate> fastest(const std::vector<Candidate>& candidates) {
    const std::vector<std::vector<Candidate>> groups{candidates};
    return quickest(toy_op(), problem_, device_, groups, Mode::cold).front();
  }

  FakeDevice device_;
  Problem problem_ = toy_problem("rows=4 cols=8");
  KernelDef ours_ = kernel_taking("ours", {30, 20}, false);
  KernelDef first_ = kernel_taking("first", {50, 40, 60}, true);
  KernelDef second_ = kernel_taking("second", {45, 35, -1}, true);
  Operation operation_{.def = &toy_op(), .kernels = {&first_, &ours_, &second_}};
};

TEST_F(Candidates, TheVendorsAreThoseOfAllItsKernels) {
  const auto vendors = vendor_candidates(operation_, problem_, device_.properties());
  ASSERT_EQ(vendors.size(), 6U);
  const auto best = fastest(vendors);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->text(), "toy/second variant=1");
}

TEST_F(Candidates, OursIsTheFirstThatCallsNoLibrary) {
  EXPECT_EQ(first_of_ours(operation_, problem_, device_.properties()), &ours_);
  const auto best = fastest(candidates_of(ours_, problem_, device_.properties()));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->config.text(), "variant=1");
  operation_.kernels = {&first_};
  EXPECT_EQ(first_of_ours(operation_, problem_, device_.properties()), nullptr);
}

TEST_F(Candidates, EachGroupHasItsFastest) {
  const DeviceProperties& device = device_.properties();
  const std::vector<std::vector<Candidate>> groups{
      candidates_of(first_, problem_, device), {}, candidates_of(ours_, problem_, device)};
  const auto best = quickest(toy_op(), problem_, device_, groups, Mode::hot);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0]->text(), "toy/first variant=1");
  EXPECT_FALSE(best[1]);
  EXPECT_EQ(best[2]->text(), "toy/ours variant=1");
  EXPECT_EQ(device_.num_flushes, 0);
}

TEST_F(Candidates, ThereMayBeNone) {
  EXPECT_FALSE(fastest({}));
  const KernelDef broken = kernel_taking("broken", {-1, -1}, true);
  EXPECT_FALSE(fastest(candidates_of(broken, problem_, device_.properties())));
  KernelDef refusing = ours_;
  refusing.supports = [](const Problem&, const DeviceProperties&) { return unsupported("no"); };
  EXPECT_TRUE(candidates_of(refusing, problem_, device_.properties()).empty());
}

TEST_F(Candidates, OneNeedsNoTiming) {
  const KernelDef one = kernel_taking("one", {10}, true);
  EXPECT_EQ(fastest(candidates_of(one, problem_, device_.properties()))->kernel, &one);
  EXPECT_EQ(device_.num_flushes, 0);
}

}  // namespace
}  // namespace rooftile
