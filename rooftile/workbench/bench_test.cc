// SPDX-License-Identifier: Apache-2.0
// Benchmarks that cannot lie: right figures for an honest kernel, and each wrong bench told from
// it. The fake device moves 1 GB/s: the toy operation on 64 x 64 f32 moves 32 KiB in 32.768 us.
#include "rooftile/workbench/bench.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/workbench/ceilings.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr double kFloorUs = 2 * 64 * 64 * 4 / 1e9 * 1e6;

Ceilings measured_ceilings() {
  Ceilings ceilings;
  for (Ceiling* each : {&ceilings.read, &ceilings.triad, &ceilings.copy, &ceilings.write})
    *each = {1e9, 0.02, "probe"};
  return ceilings;
}

class Bench : public testing::Test {
 protected:
  Record benched(const KernelDef& kernel, const std::string& line = "rows=64 cols=64") {
    operation_.kernels = {&kernel};
    return bench(operation_, kernel, toy_problem(line), device_, ceilings_, options_);
  }

  TestCache cache_;
  FakeDevice device_;
  Ceilings ceilings_ = measured_ceilings();
  Operation operation_{.def = &toy_op()};
  BenchOptions options_{.timing = {.budget_s = 1e9, .least_samples = 10, .most_samples = 20}};
};

TEST_F(Bench, PlacesAnHonestKernelOnTheRoof) {
  const Record record = benched(toy_kernel(right_taking(2 * kFloorUs)));
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_DOUBLE_EQ(record.time_us->median, 2 * kFloorUs);
  EXPECT_EQ(record.time_us->n, 15);
  EXPECT_EQ(record.bound, "memory");
  EXPECT_NEAR(*record.percent_of_roof, 50, 1e-9);
  EXPECT_NEAR(*record.gbytes_per_s, 0.5, 1e-9);
  EXPECT_NEAR(*record.attainable, 1, 1e-9);
  EXPECT_NEAR(*record.intensity, 0.25, 1e-9);  // two operations for eight bytes
  EXPECT_EQ(record.mode, "cold");
  EXPECT_EQ(record.data, "randn seed=0");
  EXPECT_EQ(record.command, "rooftile bench toy/planted rows=64 cols=64 y=f32 x=f32");
  EXPECT_FALSE(record.power_w);
}

TEST_F(Bench, TimesManyRunsInOneGraph) {
  options_.timing.mode = Mode::graph;
  int calls = 0;
  const Record record = benched(toy_kernel([&](const Context& context, const Arguments& args) {
    ++calls;
    fake(context).spend(100);
    Toy(args).fill_right();
  }));
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_DOUBLE_EQ(record.time_us->median, 100) << "of one run";
  EXPECT_EQ(record.mode, "graph");
  EXPECT_THAT(record.command, HasSubstr(" --graph"));
  // 5 ms hold 50 of them: two warm-ups and 15 samples of those, and the checks before.
  EXPECT_GE(calls, 17 * 50);
  EXPECT_LT(calls, 17 * 50 + 10);
}

TEST_F(Bench, FindsAGraphThatDoesNothing) {
  options_.timing.mode = Mode::graph;
  device_.can_replay = false;
  const Record record = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("work skipped"));
}

TEST_F(Bench, SaysWhereGraphsAreNot) {
  options_.timing.mode = Mode::graph;
  const Record in_place =
      benched(toy_kernel(right_taking(2 * kFloorUs)), "rows=64 cols=64 y.alias=x");
  EXPECT_EQ(in_place.status, Status::unsupported);
  EXPECT_THAT(in_place.reason, HasSubstr("works in place"));
  device_.can_capture = false;
  const Record record = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("fake has no graphs"));
}

TEST_F(Bench, RefusesToTimeAWrongKernel) {
  int runs = 0;
  const Record record = benched(toy_kernel([&](const Context&, const Arguments& args) {
    ++runs;
    Toy(args).fill([](std::int64_t, std::int64_t) { return 0; });
  }));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("toy/planted: y"));
  EXPECT_FALSE(record.time_us);
  EXPECT_EQ(runs, 1);
}

// What a kernel does from its `from`-th call on, right before that.
KernelDef turning(int from, std::function<void(int, const Toy&)> then,
                  Determinism determinism = Determinism::repeatable) {
  return toy_kernel(
      [from, then, calls = 0](const Context& context, const Arguments& args) mutable {
        fake(context).spend(2 * kFloorUs);
        if (++calls < from) return Toy(args).fill_right();
        then(calls, Toy(args));
      },
      determinism);
}

// A kernel that turns wrong after ten calls.
TEST_F(Bench, FindsAKernelThatTurnsWrong) {
  const Record record = benched(turning(11, [](int, const Toy& toy) {
    toy.fill_right();
    toy.store(0, 0, 99);
  }));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, AllOf(HasSubstr("element 0 is 99"), HasSubstr("in sample 9")));
}

TEST_F(Bench, ChecksTheWholeOutputAfterwards) {
  for (const Determinism determinism : {Determinism::repeatable, Determinism::any}) {
    const Record record = benched(turning(
        11,
        [](int, const Toy& toy) {
          toy.fill_right();
          toy.store(33, 21, 99);  // not among the elements that are checked after each sample
        },
        determinism));
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_THAT(record.reason,
                MatchesRegex(".*(changed during the measurement|y.33,21.: got 99).*"));
  }
}

TEST_F(Bench, FindsAWriteOutsideDuringTheSamples) {
  const Record record = benched(turning(11, [](int, const Toy& toy) {
    toy.fill_right();
    store_element(toy.y.dtype, toy.y.data, 64 * 64, 0);
  }));
  EXPECT_THAT(record.reason, HasSubstr("wrote outside 'y'"));
}

// Fourteen of fifteen calls are look-ups.
TEST_F(Bench, FindsACallThatDoesNothing) {
  for (const Determinism determinism : {Determinism::repeatable, Determinism::any}) {
    const Record record = benched(turning(3, [](int, const Toy&) {}, determinism));
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_THAT(record.reason, HasSubstr("in sample 1 element 0 is nan"));
  }
}

// The right answer at first, and the same ever after.
void fill_as_at_first(const Toy& toy, std::vector<double>& answer) {
  if (answer.empty())
    toy.fill([&](std::int64_t r, std::int64_t c) { return answer.emplace_back(toy.right(r, c)); });
  std::size_t i = 0;
  toy.fill([&](std::int64_t, std::int64_t) { return answer[i++]; });
}

TEST_F(Bench, FindsAnAnswerKeptByPointer) {
  std::vector<double> answer;
  const Record record = benched(toy_kernel(
      [&](const Context&, const Arguments& args) { fill_as_at_first(Toy(args), answer); }));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("expected"));
}

// Honest until it has been called a few times with these pointers: no sample differs from what was
// checked, but other data does.
TEST_F(Bench, FindsLookUpsThatBeginLate) {
  std::vector<double> answer;
  const Record record =
      benched(turning(6, [&](int, const Toy& toy) { fill_as_at_first(toy, answer); }));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason,
              HasSubstr("with other data in the same memory, after the measurement"));
}

// Of a reference that takes too long a few rows are computed; of the others NaN tells.
TEST_F(Bench, FindsRowsThatAreNotWrittenAmongThoseThatAreNotChecked) {
  OpDef op = toy_op();
  op.cost = [](const Problem& problem, const Values* data) {
    Cost cost = toy_op().cost(problem, data);
    cost[Unit::fp32] = 1e10;
    return cost;
  };
  operation_.def = &op;
  for (const bool is_whole : {true, false}) {
    const Record record = benched(toy_kernel([&](const Context& context, const Arguments& args) {
                                    const Toy toy(args);
                                    fake(context).spend(2 * kFloorUs * 64);
                                    for (std::int64_t r = 0; r < toy.rows; ++r)
                                      for (std::int64_t c = 0; c < toy.cols; ++c)
                                        if (is_whole || r != 1000 || c != 3)
                                          toy.store(r, c, toy.right(r, c));
                                  }),
                                  "rows=4096 cols=64");
    EXPECT_EQ(record.status, is_whole ? Status::passed : Status::failed) << record.reason;
    if (!is_whole) {
      EXPECT_THAT(record.reason, HasSubstr("y: nothing was written to element 64003"));
    }
  }
}

// The work of each call is done by a thread that starts with the next one: without a wait for it
// the times are those of a hand-over.
TEST_F(Bench, FindsWorkThatIsDoneLater) {
  std::function<void()> late;
  const Record record = benched(turning(3, [&](int, const Toy& toy) {
    if (late) std::thread(late).join();
    late = [toy] { toy.fill_right(); };
  }));
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("work skipped, late or changed"));
}

TEST_F(Bench, TimesWorkOnASideStream) {
  const Record record = benched(toy_kernel([](const Context& context, const Arguments& args) {
    run_right(context, args);
    fake(context).spend(1);
    fake(context).spend_elsewhere(1000);
  }));
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_DOUBLE_EQ(record.time_us->median, 1001);
}

TEST_F(Bench, CallsAWarmCacheImpossible) {
  device_.can_flush = false;
  const Record without_sheet = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(without_sheet.status, Status::invalid);
  EXPECT_THAT(without_sheet.reason, HasSubstr("250 % of the measured ceiling"));
  ceilings_.sheet_bytes_per_s = 1.2e9;
  const Record with_sheet = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(with_sheet.status, Status::invalid);
  EXPECT_THAT(with_sheet.reason, HasSubstr("faster than the data sheet allows"));
  EXPECT_DOUBLE_EQ(ceilings_.copy.per_s, 1e9) << "no ceiling is raised by what cannot be";
}

// A time below the physical floor is an error.
TEST_F(Bench, CallsACostThatIsTooLargeAnError) {
  ceilings_.sheet_bytes_per_s = 1.2e9;
  OpDef op = toy_op();
  op.cost = [](const Problem& problem, const Values* data) {
    Cost cost = toy_op().cost(problem, data);
    cost.bytes_read *= 4;
    return cost;
  };
  operation_.def = &op;
  const Record record = benched(toy_kernel(right_taking(1.5 * kFloorUs)));
  EXPECT_EQ(record.status, Status::invalid);
  EXPECT_THAT(record.reason, HasSubstr("an error in the measurement or the cost"));
}

TEST_F(Bench, RaisesACeilingThatIsTooLow) {
  ceilings_.sheet_bytes_per_s = 2e9;
  const Record record = benched(toy_kernel(right_taking(kFloorUs / 1.25)));
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_NEAR(ceilings_.copy.per_s, 1.25e9, 1);
  EXPECT_EQ(ceilings_.copy.source, "toy/planted");
  EXPECT_NEAR(*record.percent_of_roof, 100, 1e-9) << "under the raised ceiling";
  EXPECT_NEAR(ceilings_of(device_).copy.per_s, 1.25e9, 1) << "and it is remembered";
}

// What was written may still lie in the cache when the last sample ends: only the bytes read (half
// of them) must have moved.
TEST_F(Bench, HoldsNoCachedWritesAgainstATime) {
  device_.set_cache_bytes(1 << 20);
  const Record record = benched(toy_kernel(right_taking(kFloorUs * 0.55)));
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_DOUBLE_EQ(ceilings_.copy.per_s, 1e9);
  EXPECT_DOUBLE_EQ(ceilings_.read.per_s, 1e9);
  EXPECT_EQ(benched(toy_kernel(right_taking(kFloorUs * 0.3))).status, Status::invalid);
}

TEST_F(Bench, LeavesACeilingWithinItsSpread) {
  const Record record = benched(toy_kernel(right_taking(kFloorUs / 1.015)));
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_DOUBLE_EQ(ceilings_.copy.per_s, 1e9);
}

// A share of the roof from a time of 0 would be infinite.
TEST_F(Bench, CallsATimeThatTheClockCannotTellInvalid) {
  for (const double us : {0.0, -3.0}) {
    const Record record = benched(toy_kernel([us](const Context& context, const Arguments& args) {
      run_right(context, args);
      fake(context).stream_us = fake(context).host_us + us;
    }));
    EXPECT_EQ(record.status, Status::invalid);
    EXPECT_THAT(record.reason, HasSubstr("sample 1 of"));
    EXPECT_FALSE(record.time_us);
  }
}

TEST_F(Bench, FlagsAThrottledDeviceWithItsClock) {
  device_.states = [](int) {
    DeviceState state;
    state.clock_mhz = 1170;
    state.nominal_clock_mhz = 1980;
    state.power_w = 650;
    return state;
  };
  const Record record = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(record.status, Status::invalid);
  EXPECT_THAT(record.reason,
              HasSubstr("throttled: the clock stayed below 75 % of nominal (1170 MHz)"));
  EXPECT_EQ(record.clocks_mhz, 1170);
  EXPECT_EQ(record.power_w, 650);
  EXPECT_TRUE(record.time_us) << "a result, and flagged";
}

TEST_F(Bench, ClaimsNoShareOfTheRoofForWhatStaysInTheCache) {
  options_.timing.mode = Mode::hot;
  device_.set_cache_bytes(1 << 20);
  const Record record = benched(toy_kernel(right_taking(2 * kFloorUs)));
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(record.bound, "cache");
  EXPECT_FALSE(record.percent_of_roof);
  EXPECT_EQ(record.mode, "hot");
  EXPECT_THAT(record.command, HasSubstr(" --hot"));
  EXPECT_DOUBLE_EQ(ceilings_.copy.per_s, 1e9);
}

TEST_F(Bench, TellsUnsupportedAndThrowingKernelsApart) {
  KernelDef kernel = toy_kernel(right_taking(kFloorUs));
  kernel.supports = [](const Problem&, const DeviceProperties&) {
    return unsupported("too small");
  };
  EXPECT_EQ(benched(kernel).status, Status::unsupported);
  kernel = toy_kernel(
      [](const Context&, const Arguments&) { throw std::runtime_error("out of registers"); });
  const Record record = benched(kernel);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "threw: out of registers");
}

// In place, each sample must begin with the inputs and not with the last sample's answer.
TEST_F(Bench, RestoresWhatIsUpdatedInPlace) {
  const KernelDef kernel = toy_kernel(right_taking(2 * kFloorUs));
  const Record aliased = benched(kernel, "rows=64 cols=64 y.alias=x");
  EXPECT_EQ(aliased.status, Status::passed) << aliased.reason;
  OpDef op = toy_op();
  op.args = {inout("x", {"rows", "cols"})};
  op.meaning = [](const Problem&, Values& values) {
    for (double& value : values["x"].values) value = 2 * value + 1;
  };
  op.cost = [](const Problem& problem, const Values*) {
    Cost cost;
    cost.bytes_read = cost.bytes_written = problem.bytes("x");
    return cost;
  };
  operation_.def = &op;
  const KernelDef in_place = toy_kernel([](const Context& context, const Arguments& args) {
    for (std::int64_t i = 0; i < 64 * 64; ++i)
      args["x"].as<float>()[i] = 2 * args["x"].as<float>()[i] + 1;
    fake(context).spend(2 * kFloorUs);
  });
  operation_.kernels = {&in_place};
  const Problem problem = bind(op, parse_problem_text("toy rows=64 cols=64"));
  const Record record = bench(operation_, in_place, problem, device_, ceilings_, options_);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
}

TEST_F(Bench, PlacesAComputeBoundKernelByItsUnit) {
  ceilings_.units[static_cast<std::size_t>(Unit::fp32)] = Ceiling{1e8, 0.01, "probe"};
  const Record record =
      benched(toy_kernel(right_taking(163.84)));  // 8192 operations in 81.92 us at best
  EXPECT_EQ(record.bound, "compute");
  EXPECT_NEAR(*record.percent_of_roof, 50, 1e-9);
  EXPECT_NEAR(*record.attainable, 1e-4, 1e-12);
  EXPECT_NEAR(*record.tflops, 5e-5, 1e-12);
}

}  // namespace
}  // namespace rooftile
