// SPDX-License-Identifier: Apache-2.0
// Which kernel runs: the order of preference, proofs before it, tuned records before that, and an
// error that gives every kernel's reason.
#include "rooftile/op/dispatch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/proof.h"
#include "rooftile/op/test_op.h"
#include "rooftile/op/tuned.h"

namespace rooftile {
namespace {

using testing::HasSubstr;
using testing::Not;

class Dispatch : public testing::Test {
 protected:
  Dispatch() {
    narrow_.supports = [](const Problem& problem, const DeviceProperties&) {
      return problem.axis("cols") <= 8 ? supported() : unsupported("at most 8 columns");
    };
    hopper_.target = Target::sm90;
    for (KernelDef* kernel : {&narrow_, &hopper_, &first_, &second_}) {
      kernel->own_code_hash = kernel->name + "_code";
      registry_.add(*kernel);
    }
  }
  [[nodiscard]] Choice choice(const std::string& line) const {
    return choose(registry_, registry_.bind("scale " + line), cpu_);
  }
  [[nodiscard]] std::string chosen(const std::string& line) const {
    return choice(line).kernel->name;
  }
  [[nodiscard]] Error refusal(const std::string& line) const {
    try {
      (void)choice(line);
    } catch (const Error& error) {
      return error;
    }
    return {ErrorCode::ok, ""};
  }
  void prove(const KernelDef& kernel, bool passed = true) {
    remember_proof(test_op(), kernel, cpu_, passed);
  }

  TestCache cache_;
  TestVariable strict_{"ROOFTILE_STRICT", std::nullopt};
  TestVariable log_{"ROOFTILE_LOG", std::nullopt};
  OpDef op_ = make_test_op();
  KernelDef narrow_ = test_kernel("narrow");
  KernelDef hopper_ = test_kernel("hopper");
  KernelDef first_ = test_kernel("first");
  KernelDef second_ = test_kernel("second");
  Registry registry_ = [this] {
    Registry registry;
    registry.add(op_);
    return registry;
  }();
  DeviceProperties cpu_{.id = "cpu", .name = "a cpu", .kind = "cpu-avx2", .driver = ""};
};

TEST_F(Dispatch, FollowsTheOrderOfPreference) {
  EXPECT_EQ(chosen("rows=2 cols=8"), "narrow");
  EXPECT_EQ(chosen("rows=2 cols=9"), "first");
  EXPECT_THAT(choice("rows=2 cols=9").why, HasSubstr("UNPROVEN"));
}

TEST_F(Dispatch, PutsProvenKernelsFirst) {
  prove(second_);
  EXPECT_EQ(chosen("rows=2 cols=9"), "second");
  EXPECT_EQ(choice("rows=2 cols=9").why, "first in order, proven");
  prove(first_);
  EXPECT_EQ(chosen("rows=2 cols=9"), "first");
  prove(first_, false);
  EXPECT_EQ(chosen("rows=2 cols=9"), "second");
}

TEST_F(Dispatch, UsesAnUnprovenKernelOnlyWhereNothingProvenWill) {
  prove(narrow_);
  EXPECT_EQ(chosen("rows=2 cols=8"), "narrow");
  EXPECT_EQ(chosen("rows=2 cols=9"), "first");
  EXPECT_THAT(choice("rows=2 cols=9").why, HasSubstr("UNPROVEN here (run: rooftile verify)"));
}

TEST_F(Dispatch, SaysThatAProofIsStale) {
  prove(narrow_);
  narrow_.own_code_hash = "another build";
  EXPECT_THAT(choice("rows=2 cols=8").why, HasSubstr("its proof is stale"));
  prove(first_);
  EXPECT_EQ(chosen("rows=2 cols=8"), "first");
}

TEST_F(Dispatch, StrictRefusesTheUnproven) {
  const TestVariable strict("ROOFTILE_STRICT", "1");
  const Error error = refusal("rows=2 cols=9");
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("scale/first: UNPROVEN here"));
  EXPECT_THAT(error.what(), HasSubstr("ROOFTILE_STRICT is set"));
  prove(second_);
  EXPECT_EQ(chosen("rows=2 cols=9"), "second");
}

TEST_F(Dispatch, ListsEveryKernelWithItsReason) {
  const auto none = [](const Problem&, const DeviceProperties&) {
    return unsupported("out of order");
  };
  first_.supports = none;
  second_.supports = none;
  const Error error = refusal("rows=2 cols=9");
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("no kernel runs 'scale rows=2 cols=9"));
  EXPECT_THAT(error.what(), HasSubstr("scale/narrow: at most 8 columns"));
  EXPECT_THAT(error.what(), HasSubstr("scale/hopper: runs on sm90, not on cpu"));
  EXPECT_THAT(error.what(), HasSubstr("scale/first: out of order"));
  EXPECT_THAT(error.what(), HasSubstr("scale/second: out of order"));
  EXPECT_THAT(error.what(), Not(HasSubstr("reference"))) << "dispatch never falls back to it";
}

TEST_F(Dispatch, SaysWhenThereAreNoKernels) {
  Registry empty;
  empty.add(op_);
  try {
    (void)choose(empty, empty.bind("scale rows=2 cols=2"), cpu_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the operation has no kernels"));
  }
}

TEST_F(Dispatch, TakesTheNamedKernel) {
  const Choice named = choose(registry_, registry_.bind("scale/second rows=2 cols=2"), cpu_);
  EXPECT_EQ(named.kernel->name, "second");
  EXPECT_EQ(named.why, "named by the problem");
}

TEST_F(Dispatch, PrefersATunedRecord) {
  const Operation& operation = registry_.operation("scale");
  remember_tuned(operation, registry_.bind("scale rows=20 cols=9"), cpu_, {.kernel = "second"});
  EXPECT_EQ(chosen("rows=20 cols=9"), "second");
  EXPECT_THAT(choice("rows=20 cols=9").why, HasSubstr("tuned record, UNPROVEN"));
  EXPECT_EQ(chosen("rows=20 cols=9 x=bf16"), "first") << "tuned for f32";
  const auto why = [&](const std::string& line) {
    return choose(registry_, registry_.bind(line), cpu_).why;
  };
  EXPECT_EQ(why("scale/second rows=20 cols=9"), "named by the problem, tuned record");
  EXPECT_EQ(why("scale/first rows=20 cols=9"), "named by the problem") << "tuned for another";
  prove(first_);
  EXPECT_EQ(chosen("rows=20 cols=9"), "first") << "a tuned record is no proof";
}

// A vendor's library is loaded to answer: not for a kernel that could not be chosen.
TEST_F(Dispatch, AsksNoFurtherThanItMust) {
  int asked = 0;
  second_.supports = [&](const Problem&, const DeviceProperties&) {
    ++asked;
    return supported();
  };
  EXPECT_EQ(chosen("rows=2 cols=9"), "first");
  prove(first_);
  prove(second_);
  EXPECT_EQ(chosen("rows=2 cols=9"), "first");
  EXPECT_EQ(asked, 0);
  prove(first_, false);
  EXPECT_EQ(chosen("rows=2 cols=9"), "second");
  EXPECT_EQ(asked, 1);
}

TEST_F(Dispatch, IsToldOnRequest) {
  testing::internal::CaptureStderr();
  (void)chosen("rows=2 cols=9");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const TestVariable log("ROOFTILE_LOG", "dispatch");
  testing::internal::CaptureStderr();
  (void)chosen("rows=2 cols=9");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("dispatch: scale rows=2 cols=9 groups=1 y=f32 x=f32 on cpu -> scale/first"));
}

TEST_F(Dispatch, PreparesItsChoice) {
  const auto device = make_cpu_device(1);
  EXPECT_EQ(prepare(registry_, registry_.bind("scale rows=2 cols=9"), *device).kernel().name,
            "first");
}

}  // namespace
}  // namespace rooftile
