// SPDX-License-Identifier: Apache-2.0
// From the raw capture to operations that can be counted on: checked, cut to their pass, overlap
// shared out.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_parts.h"
#include "rooftile/workbench/time_spans.h"

namespace rooftile {
namespace {

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

void check_span(const std::string& what, double start_us, double end_us) {
  if (!is_amount(start_us) || !std::isfinite(end_us) || end_us < start_us)
    fail_input(what + " is from " + shortest(start_us) + " to " + shortest(end_us) +
               " us; the start must be at least 0 and the end not before it");
}

void check_cost(const std::string& what, const Cost& cost) {
  bool is_good = is_amount(cost.bytes_read) && is_amount(cost.bytes_written);
  for (const double ops : cost.ops) is_good = is_good && is_amount(ops);
  if (!is_good) fail_input(what + ": a cost must be finite and at least 0");
}

void check_reads(const std::string& what, const Timeline& timeline, std::size_t index) {
  for (const int read : timeline.events[index].reads) {
    const bool is_earlier = read >= 0 && static_cast<std::size_t>(read) < index;
    if (!is_earlier ||
        timeline.events[static_cast<std::size_t>(read)].pass != timeline.events[index].pass)
      fail_input(what + " reads event " + std::to_string(read) +
                 "; it must be an earlier one of the same pass");
  }
}

// One thread cannot do two things at once: such spans hold each other's time.
int overlaps_of_threads(const std::vector<TimedEvent>& events) {
  std::map<int, double> busy_until;
  int count = 0;
  for (const TimedEvent& timed : events) {
    auto [until, is_new] = busy_until.try_emplace(timed.event->thread, timed.start_us);
    if (!is_new && timed.start_us < until->second) ++count;
    until->second = std::max(until->second, timed.start_us + timed.time_us);
  }
  return count;
}

// Returns how many events had to be cut.
int add_events(TimedPass& timed, const std::vector<const TimelineEvent*>& events,
               const Ceilings& ceilings) {
  int num_cut = 0;
  std::vector<TimeSpan> spans;
  for (const TimelineEvent* event : events) {
    const double start = std::clamp(event->start_us, timed.pass->start_us, timed.pass->end_us);
    const double end = std::clamp(event->end_us, timed.pass->start_us, timed.pass->end_us);
    if (start != event->start_us || end != event->end_us) ++num_cut;
    spans.push_back({start, end});
    timed.events.push_back({.event = event,
                            .start_us = start,
                            .time_us = end - start,
                            .floor = floor_of(event->cost, ceilings)});
  }
  const SharedTime shared = share_out(spans);
  timed.busy_us = shared.union_us;
  for (std::size_t i = 0; i < timed.events.size(); ++i)
    timed.events[i].share_us = shared.shares_us[i];
  return num_cut;
}

}  // namespace

void check_timeline(const Timeline& timeline) {
  for (std::size_t i = 0; i < timeline.passes.size(); ++i) {
    const TimelinePass& pass = timeline.passes[i];
    const std::string what = "pass " + std::to_string(i);
    if (pass.phase != "prefill" && pass.phase != "decode")
      fail_input(what + " has the phase '" + pass.phase + "'; prefill or decode");
    if (pass.tokens < 0) fail_input(what + " has " + std::to_string(pass.tokens) + " tokens");
    check_span(what, pass.start_us, pass.end_us);
  }
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const TimelineEvent& event = timeline.events[i];
    const std::string what = "event " + std::to_string(i) + " (" + event.kernel + ")";
    if (event.pass < 0 || static_cast<std::size_t>(event.pass) >= timeline.passes.size())
      fail_input(what + " is of pass " + std::to_string(event.pass) + "; there are " +
                 std::to_string(timeline.passes.size()));
    check_span(what, event.start_us, event.end_us);
    check_cost(what, event.cost);
    check_reads(what, timeline, i);
  }
  for (const TimelineLayout& layout : timeline.layouts)
    if (!is_amount(layout.bytes) || !is_amount(layout.convert_us) ||
        !std::isfinite(layout.saves_us_a_pass.value_or(0)))
      fail_input("the layout of " + layout.role + ": its figures must be finite");
}

std::vector<TimedPass> timed_passes(const std::string& phase, const Timeline& timeline,
                                    const Ceilings& ceilings, std::vector<std::string>& notes) {
  std::map<int, std::vector<const TimelineEvent*>> events_of;
  for (const TimelineEvent& event : timeline.events) events_of[event.pass].push_back(&event);
  std::vector<TimedPass> passes;
  int num_cut = 0;
  int num_overlaps = 0;
  for (std::size_t i = 0; i < timeline.passes.size(); ++i) {
    if (timeline.passes[i].phase != phase) continue;
    TimedPass& timed = passes.emplace_back();
    timed.index = static_cast<std::int64_t>(i);
    timed.pass = &timeline.passes[i];
    num_cut += add_events(timed, events_of[static_cast<int>(i)], ceilings);
    num_overlaps += overlaps_of_threads(timed.events);
  }
  if (num_cut > 0)
    notes.push_back(phase + ": " + std::to_string(num_cut) +
                    " operations reached outside their pass and were cut to it");
  if (num_overlaps > 0)
    notes.push_back(phase + ": " + std::to_string(num_overlaps) +
                    " operations overlap another of the same thread; the time is shared out");
  return passes;
}

Cost total_cost(std::span<const TimedPass> passes) {
  Cost total;
  for (const TimedPass& pass : passes)
    for (const TimedEvent& timed : pass.events) {
      total.bytes_read += timed.event->cost.bytes_read;
      total.bytes_written += timed.event->cost.bytes_written;
      for (std::size_t unit = 0; unit < total.ops.size(); ++unit)
        total.ops[unit] += timed.event->cost.ops[unit];
    }
  return total;
}

Unit main_unit(const Cost& cost) {
  return static_cast<Unit>(std::ranges::max_element(cost.ops) - cost.ops.begin());
}

}  // namespace rooftile
