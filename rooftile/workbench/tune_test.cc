// SPDX-License-Identifier: Apache-2.0
// Tuning: the fastest right candidate wins and is remembered for its own class of problems only.
#include "rooftile/workbench/tune.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/op/dispatch.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

// A kernel with configurations 0, 1, 2 …, each doing what `run` says.
KernelDef configured(int count, std::function<Run(std::int64_t)> run) {
  KernelDef kernel = toy_kernel(run_right, Determinism::repeatable);
  kernel.configs = [count](const Problem&, const DeviceProperties&) {
    std::vector<Config> configs;
    for (int i = 0; i < count; ++i) configs.push_back({{{"variant", i}}});
    return configs;
  };
  kernel.prepare = [run](const Problem&, Device&, const Config& config) {
    return Prepared{.run = run(config.at("variant"))};
  };
  return kernel;
}

class Tune : public testing::Test {
 protected:
  TuneResult tuned(const std::vector<const KernelDef*>& kernels,
                   const std::string& line = "rows=20 cols=40") {
    operation_.kernels = kernels;
    return tune(operation_, toy_problem(line), device_, ceilings_, options_,
                [&](const Record& record) { seen_.push_back(record); });
  }
  [[nodiscard]] std::optional<Tuned> remembered(const std::string& line) const {
    return find_tuned(operation_, toy_problem(line), device_.properties());
  }

  TestCache cache_;
  FakeDevice device_;
  Ceilings ceilings_;
  Operation operation_{.def = &toy_op(),
                       .reference = std::make_shared<const KernelDef>(make_reference(toy_op()))};
  BenchOptions options_{.timing = {.budget_s = 1e9, .most_samples = 20}};
  std::vector<Record> seen_;
};

TEST_F(Tune, TakesTheFastestAndRemembersIt) {
  const KernelDef kernel =
      configured(3, [](std::int64_t variant) { return right_taking(variant == 1 ? 10 : 20); });
  const TuneResult result = tuned({&kernel});
  EXPECT_EQ(result.kernel, "planted");
  EXPECT_EQ(result.config.text(), "variant=1");
  ASSERT_EQ(result.candidates.size(), 4U) << "three candidates and the two fastest once more";
  EXPECT_EQ(result.candidates[2].config, "variant=2");
  EXPECT_EQ(result.candidates[3].against->verdict, "faster");
  EXPECT_EQ(seen_.size(), 4U);
  const auto found = remembered("rows=20 cols=40");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->config.text(), "variant=1");
}

TEST_F(Tune, LetsTheTwoFastestMeetAgain) {
  // Variant 0 looks fast while alone; alternating with the other it is not.
  int prepared = 0;
  const KernelDef kernel = configured(2, [&](std::int64_t variant) {
    const bool is_playoff = ++prepared > 2;
    return right_taking(variant == 0 ? (is_playoff ? 30 : 10) : 20);
  });
  EXPECT_EQ(tuned({&kernel}).config.text(), "variant=1");
}

// With one output buffer for all, two halves make a whole.
TEST_F(Tune, RejectsTwoCandidatesThatWriteHalfEach) {
  const KernelDef kernel = configured(2, [](std::int64_t variant) {
    return [variant](const Context& context, const Arguments& args) {
      const Toy toy(args);
      for (std::int64_t r = 0; r < toy.rows; ++r)
        for (std::int64_t c = variant; c < toy.cols; c += 2) toy.store(r, c, toy.right(r, c));
      fake(context).spend(1);
    };
  });
  const TuneResult result = tuned({&kernel});
  EXPECT_EQ(result.kernel, "");
  ASSERT_EQ(result.candidates.size(), 2U);
  for (const Record& record : result.candidates) {
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_THAT(record.reason, HasSubstr("got nan"));
  }
  EXPECT_FALSE(remembered("rows=20 cols=40"));
}

TEST_F(Tune, GoesOnAfterAWrongOrThrowingCandidate) {
  const KernelDef kernel = configured(3, [](std::int64_t variant) -> rooftile::Run {
    if (variant == 0)
      return [](const Context&, const Arguments&) { throw std::runtime_error("too large"); };
    if (variant == 1) return [](const Context&, const Arguments&) {};
    return right_taking(10);
  });
  const TuneResult result = tuned({&kernel});
  EXPECT_EQ(result.config.text(), "variant=2");
  EXPECT_EQ(result.candidates[0].reason, "threw: too large");
  EXPECT_EQ(result.candidates[1].status, Status::failed);
}

TEST_F(Tune, ComparesKernels) {
  KernelDef slow = toy_kernel(right_taking(30));
  KernelDef fast = toy_kernel(right_taking(10));
  KernelDef other = toy_kernel(right_taking(1));
  slow.name = "slow";
  fast.name = "fast";
  other.name = "other";
  other.supports = [](const Problem&, const DeviceProperties&) { return unsupported("never"); };
  EXPECT_EQ(tuned({&slow, &other, &fast}).kernel, "fast");
  EXPECT_EQ(tuned({&slow, &fast}, "rows=20 cols=40 x=bf16").kernel, "fast");
}

// Tuned for one type and used for another.
TEST_F(Tune, IsForItsOwnTypeAndShapes) {
  const KernelDef kernel =
      configured(2, [](std::int64_t variant) { return right_taking(variant == 1 ? 10 : 20); });
  (void)tuned({&kernel}, "rows=20 cols=40 x=fp16");
  EXPECT_TRUE(remembered("rows=20 cols=40 x=fp16"));
  EXPECT_TRUE(remembered("rows=32 cols=64 x=fp16"));
  EXPECT_FALSE(remembered("rows=20 cols=40 x=f32"));
  EXPECT_FALSE(remembered("rows=33 cols=40 x=fp16"));
  Registry registry;
  registry.add(toy_op());
  registry.add(kernel);
  const auto config = [&](const std::string& line) {
    return choose(registry, toy_problem(line), device_.properties()).config.text();
  };
  EXPECT_EQ(config("rows=20 cols=40 x=fp16"), "variant=1");
  EXPECT_EQ(config("rows=20 cols=40 x=f32"), "");
}

TEST_F(Tune, KeepsToTheKernelThatTheProblemNames) {
  const KernelDef planted = toy_kernel(right_taking(30));
  KernelDef faster = toy_kernel(right_taking(10));
  faster.name = "faster";
  Problem problem = toy_problem("rows=20 cols=40");
  problem.kernel = "planted";
  operation_.kernels = {&planted, &faster};
  const TuneResult result =
      tune(operation_, problem, device_, ceilings_, options_, [](const Record&) {});
  EXPECT_EQ(result.kernel, "planted");
  EXPECT_EQ(result.candidates.size(), 1U);
}

}  // namespace
}  // namespace rooftile
