// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kThrottledBelow = 0.75;  // of the nominal clock, as nvbench does
constexpr int kMostDiscards = 20;         // one after another
constexpr int kLeastForVerdict = 6;
// Longer than a host takes to find that an idle device is idle.
constexpr double kJoinUs = 25;
// Of a graph: its own launch, a few microseconds, is then below a thousandth.
constexpr double kGraphUs = 5000;
constexpr int kMostRunsOfGraph = 100;
constexpr int kLeastForStability = 15;
constexpr double kBeyond = 0.01;
constexpr double kSameWithin = 0.02;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_slow_clock(const DeviceState& state) {
  return state.clock_mhz && state.nominal_clock_mhz &&
         *state.clock_mhz < kThrottledBelow * *state.nominal_clock_mhz;
}

bool is_stable(std::span<const Contender> contenders, double within) {
  return std::ranges::all_of(contenders, [&](const Contender& contender) {
    if (contender.samples_us.size() < kLeastForStability) return false;
    const Interval interval = median_interval(contender.samples_us);
    return interval.high - interval.low <= 2 * within * interval.low;
  });
}

// One round: every contender once, in forward or backward order. False when a fault was reported.
bool run_round(Device& device, Stream& stream, std::span<Contender> contenders, Mode mode,
               bool is_backward, std::vector<double>& times, std::string& fault) {
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const std::size_t index = is_backward ? contenders.size() - 1 - i : i;
    Contender& contender = contenders[index];
    if (contender.before) contender.before();
    if (mode == Mode::cold) device.flush_caches(stream);
    times[index] = time_once(device, stream, contender.run) / contender.runs;
    if (contender.after) fault = contender.after();
    if (!fault.empty()) return false;
  }
  return true;
}

}  // namespace

std::string_view name(Mode mode) {
  static constexpr std::array<std::string_view, 3> kNames{"cold", "hot", "graph"};
  return kNames.at(static_cast<std::size_t>(mode));
}

void put_into_graph(Device& device, Stream& stream, Contender& contender) {
  const double once_us = time_once(device, stream, contender.run);
  const int runs = static_cast<int>(std::clamp(kGraphUs / once_us, 1.0, 1.0 * kMostRunsOfGraph));
  const std::shared_ptr<Graph> graph = stream.capture([run = contender.run, runs] {
    for (int i = 0; i < runs; ++i) run();
  });
  contender.run = [graph, &stream] { graph->run(stream); };
  contender.runs *= runs;
}

double time_once(Device& device, Stream& stream, const std::function<void()>& run) {
  const std::unique_ptr<Event> start = device.make_event();
  const std::unique_ptr<Event> stop = device.make_event();
  const std::unique_ptr<Event> noticed = device.make_event();
  const std::unique_ptr<Event> joined = device.make_event();
  stream.synchronise();
  {
    const std::unique_ptr<Hold> hold = stream.hold();
    start->record(stream);
    run();
    stop->record(stream);
  }
  stream.synchronise();
  noticed->record(stream);
  device.synchronise();
  joined->record(stream);
  // Why: work on a stream of the kernel's own goes on after `stop`, and belongs to the time.
  const bool is_late = joined->elapsed_us(*noticed) > kJoinUs;
  return stop->elapsed_us(*start) + (is_late ? joined->elapsed_us(*stop) : 0);
}

TimingOutcome alternate(Device& device, Stream& stream, std::span<Contender> contenders,
                        const TimingOptions& options) {
  TimingOutcome outcome;
  std::vector<double> times(contenders.size());
  for (int i = 0; i < options.warm_up_runs; ++i)
    if (!run_round(device, stream, contenders, Mode::hot, false, times, outcome.fault))
      return outcome;
  const bool can_throttle = device.state().nominal_clock_mhz.has_value();
  const Clock::time_point start = Clock::now();
  int discards = 0;
  for (int round = 0; round < options.most_samples; ++round) {
    const bool is_enough = round >= options.least_samples;
    if (is_enough &&
        (seconds_since(start) > options.budget_s || is_stable(contenders, options.stable_within)))
      break;
    if (!run_round(device, stream, contenders, options.mode, round % 2 == 1, times, outcome.fault))
      return outcome;
    if (can_throttle && is_slow_clock(device.state()) && !outcome.is_throttled) {
      ++outcome.num_throttled;
      outcome.is_throttled = ++discards >= kMostDiscards;
      --round;
      continue;
    }
    discards = 0;
    for (std::size_t i = 0; i < contenders.size(); ++i)
      contenders[i].samples_us.push_back(times[i]);
  }
  outcome.state = device.state();
  return outcome;
}

std::string fault_of(std::span<const double> samples_us) {
  if (samples_us.empty()) return "no sample was taken";
  const auto wrong =
      std::ranges::find_if(samples_us, [](double us) { return !(us > 0) || !std::isfinite(us); });
  if (wrong == samples_us.end()) return "";
  return "sample " + std::to_string(wrong - samples_us.begin() + 1) + " of " +
         std::to_string(samples_us.size()) + " took " + shortest(*wrong) +
         " us: shorter than the device's clock can tell, or its clock is wrong";
}

std::vector<double> ratios(const Contender& a, const Contender& b) {
  std::vector<double> list;
  for (std::size_t i = 0; i < std::min(a.samples_us.size(), b.samples_us.size()); ++i)
    list.push_back(b.samples_us[i] / a.samples_us[i]);
  return list;
}

std::string verdict(const std::vector<double>& ratios) {
  if (ratios.size() < kLeastForVerdict) return "cannot tell";
  const Interval interval = median_interval(ratios);
  if (interval.low > 1 + kBeyond) return "faster";
  if (interval.high < 1 - kBeyond) return "slower";
  if (interval.low > 1 - kSameWithin && interval.high < 1 + kSameWithin) return "same";
  return "cannot tell";
}

}  // namespace rooftile
