// SPDX-License-Identifier: Apache-2.0
// The one loop that times anything: kernels, their rivals and the device's own probes, alternating
// within one run, so that whatever slows the machine slows all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/op/record.h"
#include "rooftile/workbench/statistics.h"

namespace ROOFTILE_API rooftile {

enum class Mode : std::uint8_t {
  cold,   // caches flushed before every sample
  hot,    // back to back: what the caches hold stays
  graph,  // hot, many runs captured in one graph: without the host's part of each launch
};
std::string_view name(Mode mode);

struct TimingOptions {
  Mode mode = Mode::cold;
  double budget_s = 1.0;   // wall time for all samples, flushes included
  int least_samples = 10;  // of each contender, whatever the budget
  int most_samples = 1000;
  double stable_within = 0.005;  // stop when each median's interval is this narrow, relative
  int warm_up_runs = 2;
};

/// Something to be timed. `before` and `after` are not timed; `after` says what is wrong with the
/// sample, or nothing.
struct Contender {
  std::function<void()> run;
  std::function<void()> before{};
  std::function<std::string()> after{};
  std::vector<double> samples_us{};
  int runs = 1;  // that one `run` does: a sample is the time of one of them
};

/// Puts enough of the contender's runs for some milliseconds, at most 100, into one graph, which is
/// then what it runs. Throws what capturing throws.
void put_into_graph(Device& device, Stream& stream, Contender& contender);

struct TimingOutcome {
  std::string fault{};        // the first that an `after` reported; timing stops there
  int num_throttled = 0;      // samples thrown away because the clock was far below nominal
  bool is_throttled = false;  // and that did not end: the samples kept are of a throttled device
  DeviceState state{};        // at the end
};

/// Adds samples to every contender, in the order A B, B A, A B …
TimingOutcome alternate(Device& device, Stream& stream, std::span<Contender> contenders,
                        const TimingOptions& options);

/// One sample: microseconds between two events around `run`, everything on the device included. The
/// stream is held while the host launches, so that its part is not.
double time_once(Device& device, Stream& stream, const std::function<void()>& run);

/// What makes these samples no times: there are none, or one is not above 0 (the clock is too
/// coarse, or went back) or no number. Empty when they are times.
std::string fault_of(std::span<const double> samples_us);

/// Ratios B/A of samples taken in the same round: above 1 where A took less time.
std::vector<double> ratios(const Contender& a, const Contender& b);

/// What a ratio's interval allows to say of A: "faster" or "slower" when it lies beyond 1 % of 1,
/// "same" when all of it lies within 2 %, "cannot tell" otherwise and from fewer than six.
std::string verdict(const std::vector<double>& ratios);

}  // namespace rooftile
