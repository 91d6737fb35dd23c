// SPDX-License-Identifier: Apache-2.0
// One phase as a whole: wall time captured and clean, time in operations, gaps, utilisation, and
// the pass that stands for the others.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_parts.h"
#include "rooftile/workbench/statistics.h"

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;

double length_us(const TimedPass& timed) { return timed.pass->end_us - timed.pass->start_us; }

ShownPass shown_of(const TimedPass& timed) {
  ShownPass shown{.index = timed.index, .tokens = timed.pass->tokens, .time_us = length_us(timed)};
  for (const TimedEvent& one : timed.events)
    shown.events.push_back({.kernel = one.event->kernel,
                            .role = one.event->role,
                            .problem = one.event->problem,
                            .layer = one.event->layer,
                            .thread = one.event->thread,
                            .start_us = one.start_us - timed.pass->start_us,
                            .time_us = one.time_us,
                            .bytes = one.event->cost.bytes(),
                            .ops = one.event->cost.total_ops()});
  return shown;
}

// The longest pass, or the median one.
const TimedPass& pass_to_show(std::span<const TimedPass> passes, bool is_median) {
  std::vector<const TimedPass*> order;
  for (const TimedPass& pass : passes) order.push_back(&pass);
  std::ranges::stable_sort(order, {}, [](const TimedPass* pass) { return length_us(*pass); });
  return *order[is_median ? order.size() / 2 : order.size() - 1];
}

double checked(const char* what, double us) {
  if (!std::isfinite(us) || us < 0)
    fail_input(std::string("the clean run's ") + what + " is " + shortest(us) + " us");
  return us;
}

void add_clean(ProfilePhase& phase, double clean_us, std::int64_t tokens, std::int64_t passes) {
  if (clean_us <= 0 || tokens <= 0) return;
  phase.clean_us = clean_us;
  phase.tokens_per_s = static_cast<double>(tokens) / clean_us * kMicro;
  phase.clean_gap_us_a_pass = std::max(0.0, clean_us / static_cast<double>(passes) -
                                                phase.busy_us / static_cast<double>(phase.passes));
}

std::optional<CaptureCost> capture_cost(std::span<const CapturePair> pairs) {
  std::vector<double> percents;
  for (const CapturePair& pair : pairs) {
    const double clean = checked("decode pass in turns", pair.clean_us);
    const double captured = checked("decode pass in turns", pair.captured_us);
    if (clean > 0) percents.push_back((captured / clean - 1) * 100);
  }
  if (percents.empty()) return std::nullopt;
  const Interval range = median_interval(percents);
  return CaptureCost{.percent = quantiles(percents).median,
                     .low_percent = range.low,
                     .high_percent = range.high,
                     .pairs = std::ssize(percents)};
}

// Model FLOPs utilisation: the operations that had to be done over what the unit that does most of
// them could have done in the time (Chowdhery et al., "PaLM", 2022, appendix B).
void add_mfu(ProfilePhase& phase, const Cost& cost, const Ceilings& ceilings) {
  const Unit unit = main_unit(cost);
  const auto& peak = ceilings.units[static_cast<std::size_t>(unit)];
  if (!phase.clean_us || cost[unit] <= 0 || !peak || peak->per_s <= 0) return;
  phase.mfu_unit = name(unit);
  phase.mfu_percent = cost[unit] / (*phase.clean_us / kMicro) / peak->per_s * 100;
}

}  // namespace

double ProfilePhase::pass_us() const {
  if (clean_pass_us) return clean_pass_us->median;
  return clean_us.value_or(captured_us) / static_cast<double>(std::max<std::int64_t>(1, passes));
}

ProfilePhase phase_of(const std::string& name, std::span<const TimedPass> passes,
                      const Timeline& timeline, const CleanRun& clean, const Ceilings& ceilings) {
  ProfilePhase phase{.name = name, .passes = std::ssize(passes)};
  double roof_us = 0;
  for (const TimedPass& timed : passes) {
    phase.tokens += timed.pass->tokens;
    phase.operations += std::ssize(timed.events);
    phase.captured_us += length_us(timed);
    phase.busy_us += timed.busy_us;
    for (const TimedEvent& one : timed.events) roof_us += one.floor.time_us;
  }
  phase.gap_us = std::max(0.0, phase.captured_us - phase.busy_us);
  if (phase.operations > 0)
    phase.gap_us_an_operation = phase.gap_us / static_cast<double>(phase.operations);
  if (roof_us > 0) phase.roof_us = roof_us;
  const bool is_decode = name == "decode";
  if (!is_decode) {
    // The clean run has the same passes: the prompt is the same.
    add_clean(phase, checked("prefill", clean.prefill_us), clean.prefill_tokens, phase.passes);
    if (phase.tokens == clean.prefill_tokens) add_mfu(phase, total_cost(passes), ceilings);
  } else if (!clean.decode_us.empty()) {
    for (const double us : clean.decode_us) checked("decode pass", us);
    add_clean(phase, std::accumulate(clean.decode_us.begin(), clean.decode_us.end(), 0.0),
              clean.decode_tokens, std::ssize(clean.decode_us));
    phase.clean_pass_us = quantiles(clean.decode_us);
  }
  if (is_decode) phase.capture_cost = capture_cost(timeline.pairs);
  phase.kernels = rows_by(&TimelineEvent::kernel, passes);
  phase.roles = rows_by(&TimelineEvent::role, passes);
  phase.shown = shown_of(pass_to_show(passes, is_decode));
  return phase;
}

}  // namespace rooftile
