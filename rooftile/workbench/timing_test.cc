// SPDX-License-Identifier: Apache-2.0
// The timing loop on a virtual clock: what belongs to a time, the order of contenders, when it
// stops, throttling; and the statistics that speak of the samples.
#include "rooftile/workbench/timing.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/workbench/test_support.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

// Never stopped by real time: by counts alone.
const TimingOptions kCounted{
    .budget_s = 1e9, .least_samples = 5, .most_samples = 8, .stable_within = 0};

class Timing : public testing::Test {
 protected:
  FakeDevice device_;
  std::unique_ptr<Stream> stream_ = device_.make_stream();

  double once(const std::function<void()>& run) { return time_once(device_, *stream_, run); }
  TimingOutcome timed(Contender& contender, const TimingOptions& options = kCounted) {
    return alternate(device_, *stream_, {&contender, 1}, options);
  }
};

TEST_F(Timing, MeasuresTheDevicesTime) {
  EXPECT_DOUBLE_EQ(once([&] { device_.spend(5); }), 5);
  EXPECT_DOUBLE_EQ(once([] {}), 0);
}

TEST_F(Timing, LeavesOutWhatWasQueuedBefore) {
  device_.spend(1000);
  EXPECT_DOUBLE_EQ(once([&] { device_.spend(5); }), 5);
}

TEST_F(Timing, LeavesOutWhatTheHostNeedsToLaunch) {
  EXPECT_DOUBLE_EQ(once([&] {
                     device_.spend_host(40);
                     device_.spend(5);
                   }),
                   5);
  EXPECT_FALSE(device_.is_held);
  EXPECT_THROW(once([] { throw Error(ErrorCode::unsupported, "the kernel's own"); }), Error);
  EXPECT_FALSE(device_.is_held);
}

// A kernel on a side stream finishes after the stop event.
TEST_F(Timing, IncludesWorkOnOtherStreams) {
  EXPECT_DOUBLE_EQ(once([&] {
                     device_.spend(1);
                     device_.spend_elsewhere(40);
                   }),
                   41);
  EXPECT_DOUBLE_EQ(once([&] {
                     device_.spend(1);
                     device_.spend_elsewhere(5000);
                   }),
                   5001);
  EXPECT_DOUBLE_EQ(once([&] {
                     device_.spend(400);
                     device_.elsewhere_us = device_.stream_us - 100;  // done before the stream is
                   }),
                   400);
}

TEST_F(Timing, AlternatesForwardAndBackward) {
  std::string order;
  std::vector<Contender> contenders{{.run = [&] { order += 'A'; }}, {.run = [&] { order += 'B'; }}};
  TimingOptions options = kCounted;
  options.most_samples = options.least_samples = 4;
  options.warm_up_runs = 1;
  (void)alternate(device_, *stream_, contenders, options);
  EXPECT_EQ(order,
            "AB"
            "AB"
            "BA"
            "AB"
            "BA");
  EXPECT_EQ(contenders[0].samples_us.size(), 4U);
  EXPECT_EQ(contenders[1].samples_us.size(), 4U);
}

TEST_F(Timing, FlushesBeforeEveryColdSample) {
  std::vector<bool> was_warm;
  Contender contender{.run = [&] {
    was_warm.push_back(device_.is_warm);
    device_.spend(1);
  }};
  TimingOptions options = kCounted;
  options.most_samples = 5;
  (void)timed(contender, options);
  EXPECT_THAT(was_warm, ElementsAre(false, true, false, false, false, false, false));
  EXPECT_EQ(device_.num_flushes, 5);
  device_.num_flushes = 0;
  options.mode = Mode::hot;
  contender.samples_us.clear();
  (void)timed(contender, options);
  EXPECT_EQ(device_.num_flushes, 0);
}

TEST_F(Timing, DoesNotTimeBeforeAndAfter) {
  std::string order;
  Contender contender{.run = [&] { device_.spend(3); },
                      .before = [&] { order += 'b', device_.spend(100); },
                      .after = [&] { return order += 'a', device_.spend(100), std::string(); }};
  TimingOptions options = kCounted;
  options.most_samples = 5;
  options.warm_up_runs = 0;
  (void)timed(contender, options);
  EXPECT_THAT(contender.samples_us, ElementsAre(3, 3, 3, 3, 3));
  EXPECT_EQ(order, "bababababa");
}

TEST_F(Timing, StopsAtTheFirstFault) {
  int runs = 0;
  Contender contender{.run = [&] { ++runs; },
                      .after = [&] { return std::string(runs == 4 ? "late" : ""); }};
  EXPECT_EQ(timed(contender).fault, "late");
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(contender.samples_us.size(), 1U)
      << "two warm-up runs, one sample; the faulty one is not kept";
}

TEST_F(Timing, StopsWhenTheMedianIsStable) {
  Contender steady{.run = [&] { device_.spend(5); }};
  (void)timed(steady, {.budget_s = 1e9, .least_samples = 5, .most_samples = 1000});
  EXPECT_EQ(steady.samples_us.size(), 15U) << "fewer say nothing of stability";
  int i = 0;
  Contender noisy{.run = [&] { device_.spend(++i % 2 == 0 ? 5 : 50); }};
  (void)timed(noisy, {.budget_s = 1e9, .least_samples = 5, .most_samples = 100});
  EXPECT_EQ(noisy.samples_us.size(), 100U);
}

TEST_F(Timing, TakesTheLeastSamplesWhateverTheBudget) {
  Contender contender{.run = [&] { device_.spend(5); }};
  (void)timed(contender, {.budget_s = -1, .least_samples = 7, .most_samples = 1000});
  EXPECT_EQ(contender.samples_us.size(), 7U);
}

// Neither endless retries below the threshold, nor nothing in the result.
DeviceState at_clock(double mhz) {
  DeviceState state;
  state.clock_mhz = mhz;
  state.nominal_clock_mhz = 1980;
  return state;
}

TEST_F(Timing, GivesUpOnAClockThatStaysLow) {
  device_.states = [](int) { return at_clock(0.59 * 1980); };
  Contender contender{.run = [&] { device_.spend(5); }};
  const TimingOutcome outcome = timed(contender);
  EXPECT_TRUE(outcome.is_throttled);
  EXPECT_EQ(outcome.num_throttled, 20) << "bounded";
  EXPECT_EQ(contender.samples_us.size(), 8U) << "and there is a result";
  EXPECT_DOUBLE_EQ(*outcome.state.clock_mhz, 0.59 * 1980);
}

TEST_F(Timing, DropsSamplesOfAPassingThrottle) {
  device_.states = [](int asked) { return at_clock(asked >= 3 && asked < 9 ? 1000 : 1900); };
  Contender contender{
      .run = [&] { device_.spend(device_.num_states >= 3 && device_.num_states < 9 ? 9 : 5); }};
  const TimingOutcome outcome = timed(contender);
  EXPECT_FALSE(outcome.is_throttled);
  EXPECT_EQ(outcome.num_throttled, 6);
  EXPECT_EQ(contender.samples_us, std::vector<double>(8, 5.0));
}

// Many short dips in a long run are not a clock that stays low.
TEST_F(Timing, CountsDiscardsInARow) {
  device_.states = [](int asked) { return at_clock(asked % 2 == 0 ? 1000 : 1900); };
  Contender contender{.run = [&] { device_.spend(5); }};
  const TimingOutcome outcome = timed(
      contender, {.budget_s = 1e9, .least_samples = 60, .most_samples = 60, .stable_within = 0});
  EXPECT_FALSE(outcome.is_throttled);
  EXPECT_GT(outcome.num_throttled, 40);
}

TEST_F(Timing, TakesAClockJustAboveTheThreshold) {
  device_.states = [](int) { return at_clock(0.76 * 1980); };
  Contender contender{.run = [&] { device_.spend(5); }};
  EXPECT_EQ(timed(contender).num_throttled, 0);
}

TEST(Ratios, PairSamplesOfOneRound) {
  EXPECT_THAT(ratios({.run = {}, .samples_us = {1, 2, 4}}, {.run = {}, .samples_us = {2, 2, 2}}),
              ElementsAre(2, 1, 0.5));
}

TEST(FaultOf, SamplesThatNoClockGives) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(fault_of(std::vector<double>{1, 2, 1e-3}), "");
  EXPECT_EQ(fault_of({}), "no sample was taken");
  for (const double wrong : {0.0, -2.0, kNan, std::numeric_limits<double>::infinity()})
    EXPECT_THAT(fault_of(std::vector<double>{1, wrong, 1}),
                testing::HasSubstr("sample 2 of 3 took"))
        << wrong;
}

std::vector<double> around(double ratio, double spread, int count = 30) {
  std::vector<double> list;
  for (int i = 0; i < count; ++i)
    list.push_back(ratio * (1 + spread * ((i * 7 % count) - (count - 1) / 2.0) / count * 2));
  return list;
}

TEST(Verdict, SaysWhatTheIntervalAllows) {
  EXPECT_EQ(verdict(around(1.5, 0.1)), "faster");
  EXPECT_EQ(verdict(around(0.7, 0.1)), "slower");
  EXPECT_EQ(verdict(around(1.0, 0.01)), "same");
  EXPECT_EQ(verdict(around(1.0, 0.3)), "cannot tell");
  EXPECT_EQ(verdict(around(1.03, 0.002)), "faster");
  EXPECT_EQ(verdict(around(1.008, 0.001)), "same") << "within 1 % nobody is faster";
  EXPECT_EQ(verdict(around(1.03, 0.3)), "cannot tell");
}

TEST(Verdict, IsNotBentByOutliers) {
  std::vector<double> list = around(1.0, 0.005);
  for (int i = 0; i < 6; ++i) list[static_cast<std::size_t>(i)] = 50;
  EXPECT_EQ(verdict(list), "same");
}

TEST(Verdict, NeedsMoreThanAFewSamples) {
  EXPECT_EQ(verdict({}), "cannot tell");
  EXPECT_EQ(verdict({2}), "cannot tell");
  EXPECT_EQ(verdict({2, 2, 2, 2, 2}), "cannot tell");
  EXPECT_EQ(verdict({2, 2, 2, 2, 2, 2}), "faster");
  EXPECT_EQ(verdict({2, 2, 2, 2, 2, 0.5}), "cannot tell") << "six samples: all of them count";
}

TEST(Quantiles, InterpolateBetweenOrderStatistics) {
  const Quantiles ten = quantiles({10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  EXPECT_DOUBLE_EQ(ten.median, 5);
  EXPECT_DOUBLE_EQ(ten.p10, 1);
  EXPECT_DOUBLE_EQ(ten.p90, 9);
  EXPECT_EQ(ten.n, 11);
  EXPECT_DOUBLE_EQ(quantiles({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(quantiles({1, 2}).p90, 1.9);
  EXPECT_DOUBLE_EQ(quantiles({7}).p10, 7);
  EXPECT_THROW(quantiles({}), Error);
}

// Ranks for n/2 -+ 0.98 sqrt(n): of 100 samples the 41st to the 60th.
TEST(MedianInterval, IsOfOrderStatistics) {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);
  const Interval interval = median_interval(samples);
  EXPECT_EQ(interval.low, 41);
  EXPECT_EQ(interval.high, 60);
  EXPECT_EQ(median_interval({3, 1, 2, 5, 4}).low, 1);
  EXPECT_EQ(median_interval({3, 1, 2, 5, 4}).high, 5);
  EXPECT_EQ(median_interval({3}).high, 3);
  EXPECT_THROW(median_interval({}), Error);
}

}  // namespace
}  // namespace rooftile
