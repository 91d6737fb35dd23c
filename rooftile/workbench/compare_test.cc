// SPDX-License-Identifier: Apache-2.0
// A against B: within one run by alternation, between two files by their quantiles; and what is
// kept.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/workbench/bench.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

class CompareKernels : public testing::Test {
 protected:
  CompareKernels() { b_.name = "rival"; }
  Record compared(double a_us, double b_us) {
    a_.prepare = toy_kernel(right_taking(a_us)).prepare;
    b_.prepare = toy_kernel(right_taking(b_us)).prepare;
    return compare_kernels(operation_, a_, b_, toy_problem("rows=8 cols=8"), device_, ceilings_,
                           options_);
  }

  TestCache cache_;
  FakeDevice device_;
  Ceilings ceilings_;
  KernelDef a_ = toy_kernel(run_right);
  KernelDef b_ = toy_kernel(run_right);
  Operation operation_{.def = &toy_op(),
                       .kernels = {&a_, &b_},
                       .reference = std::make_shared<const KernelDef>(make_reference(toy_op()))};
  BenchOptions options_{.timing = {.budget_s = 1e9, .most_samples = 25}};
};

TEST_F(CompareKernels, GivesTheRatioInOneRun) {
  const Record record = compared(10, 15);
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(record.kernel, "toy/planted");
  EXPECT_EQ(record.against->kernel, "toy/rival");
  EXPECT_DOUBLE_EQ(record.against->ratio.median, 1.5);
  EXPECT_DOUBLE_EQ(record.against->time_us.median, 15);
  EXPECT_EQ(record.against->verdict, "faster");
  EXPECT_GE(record.time_us->n, 20);
  EXPECT_THAT(record.command, HasSubstr("--against rival"));
  EXPECT_FALSE(record.probe);
  EXPECT_EQ(compared(15, 10).against->verdict, "slower");
  EXPECT_EQ(compared(10, 10.05).against->verdict, "same");
}

TEST_F(CompareKernels, RefusesAWrongRival) {
  b_.prepare = toy_kernel([](const Context&, const Arguments&) {}).prepare;
  const Record record = compare_kernels(operation_, a_, b_, toy_problem("rows=8 cols=8"), device_,
                                        ceilings_, options_);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("toy/rival: y[0,0]: got nan"));
}

TEST_F(CompareKernels, KeepsTheErrorsOfTheTwoApart) {
  a_.prepare = toy_kernel(right_taking(10)).prepare;
  b_.prepare = toy_kernel([](const Context& context, const Arguments& args) {
                 const Toy toy(args);
                 fake(context).spend(10);
                 toy.fill([&](std::int64_t r, std::int64_t c) {
                   return nudged(toy.right(r, c), DType::f32);
                 });
               }).prepare;
  const Record record = compare_kernels(operation_, a_, b_, toy_problem("rows=8 cols=8"), device_,
                                        ceilings_, options_);
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_LE(*record.max_ulps, 0.5) << "the rival errs by more";
}

TEST_F(CompareKernels, NamesAnUnknownOrUnsupportedRival) {
  options_.against = "rivla";
  EXPECT_THROW(bench(operation_, a_, toy_problem("rows=8 cols=8"), device_, ceilings_, options_),
               Error);
  b_.supports = [](const Problem&, const DeviceProperties&) {
    return unsupported("no such shape");
  };
  const Record record = compare_kernels(operation_, a_, b_, toy_problem("rows=8 cols=8"), device_,
                                        ceilings_, options_);
  EXPECT_EQ(record.status, Status::unsupported);
  EXPECT_EQ(record.reason, "toy/rival: no such shape");
}

Record result(const std::string& kernel, double p10, double median, double p90) {
  Record record{.op = "toy",
                .kernel = "toy/" + kernel,
                .problem = "toy/" + kernel + " rows=8 cols=8",
                .device = "fake"};
  record.time_us = Quantiles{median, p10, p90, 20};
  record.mode = "cold";
  record.data = "randn seed=0";
  return record;
}

std::string verdict_of(const Record& a, const Record& b) { return compare_records(a, b).verdict; }

TEST(CompareRecords, AreDecidedByTheirWholeRanges) {
  EXPECT_EQ(verdict_of(result("a", 9, 10, 11), result("b", 12, 13, 14)), "faster");
  EXPECT_EQ(verdict_of(result("a", 12, 13, 14), result("b", 9, 10, 11)), "slower");
  EXPECT_EQ(verdict_of(result("a", 9, 10, 11), result("b", 10.5, 13, 14)), "cannot tell");
  EXPECT_EQ(verdict_of(result("a", 9.95, 10, 10.05), result("b", 9.99, 10.05, 10.1)), "same");
  EXPECT_EQ(verdict_of(result("a", 5, 10, 15), result("b", 5, 10, 15)), "cannot tell");
  EXPECT_DOUBLE_EQ(compare_records(result("a", 9, 10, 11), result("b", 12, 13, 14)).ratio, 1.3);
}

struct Change {
  const char* name;
  void (*make)(Record&);
  const char* message;
};

class Incomparable : public testing::TestWithParam<Change> {};

TEST_P(Incomparable, IsRefused) {
  Record b = result("b", 12, 13, 14);
  GetParam().make(b);
  try {
    compare_records(result("a", 9, 10, 11), b);
    FAIL() << "compared what cannot be";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("not comparable"));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    CompareRecords, Incomparable,
    testing::Values(
        // Zeros draw less power and run faster than random data.
        Change{"data", [](Record& r) { r.data = "zeros seed=0"; }, "data 'randn' and 'zeros'"},
        Change{"problem", [](Record& r) { r.problem = "toy/b rows=8 cols=9"; }, "problem"},
        Change{"operation", [](Record& r) { r.op = "other"; }, "problem"},
        Change{"device", [](Record& r) { r.device = "cpu"; }, "device"},
        Change{"mode", [](Record& r) { r.mode = "hot"; }, "mode"},
        Change{"no_time", [](Record& r) { r.time_us.reset(); }, "no valid time"},
        Change{"failed", [](Record& r) { r.status = Status::failed; }, "no valid time"},
        Change{"invalid", [](Record& r) { r.status = Status::invalid; }, "no valid time"}),
    [](const auto& test) { return test.param.name; });

Record won(const std::string& line, const std::string& verdict, Status status = Status::passed) {
  Record record = result("a", 9, 10, 11);
  record.problem = line;
  record.status = status;
  record.against = Against{"toy/b", {}, {}, verdict};
  return record;
}

TEST(Keep, NeedsTwoDifferentProblems) {
  EXPECT_FALSE(keep({}).first);
  EXPECT_FALSE(keep({won("toy/a rows=8", "faster")}).first);
  EXPECT_FALSE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=8", "faster")}).first);
  EXPECT_FALSE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=8 seed=7", "faster")}).first)
      << "the same problem with other data";
  EXPECT_TRUE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "faster")}).first);
  EXPECT_TRUE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "faster"),
                    won("toy/a rows=10", "same")})
                  .first);
  EXPECT_FALSE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "cannot tell")}).first);
  EXPECT_THAT(keep({won("toy/a rows=8", "faster")}).second, HasSubstr("wins on a second one too"));
}

TEST(Keep, IsLostByOneSlowerOrUnmeasuredProblem) {
  const auto lost = keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "faster"),
                          won("toy/a rows=10", "slower")});
  EXPECT_FALSE(lost.first);
  EXPECT_EQ(lost.second, "slower on 'toy/a rows=10'");
  for (const Status status : {Status::failed, Status::invalid, Status::unsupported})
    EXPECT_FALSE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "faster"),
                       won("toy/a rows=10", "same", status)})
                     .first);
  Record alone = won("toy/a rows=10", "");
  alone.against.reset();
  EXPECT_FALSE(keep({won("toy/a rows=8", "faster"), won("toy/a rows=9", "faster"), alone}).first);
}

}  // namespace
}  // namespace rooftile
