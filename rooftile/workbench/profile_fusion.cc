// SPDX-License-Identifier: Apache-2.0
// What fusion would save: an intermediate that stays in registers is neither written nor read
// again. And what converting a layout cost and saved.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "rooftile/workbench/profile_parts.h"

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;

struct Saving {
  std::int64_t pairs = 0;
  double read = 0;
  double written = 0;
  double cached = 0;
};

using Savings = std::map<std::pair<std::string, std::string>, Saving>;

// How many later events read each one.
std::map<int, int> readers_of(const TimedPass& pass) {
  std::map<int, int> readers;
  for (const TimedEvent& timed : pass.events)
    for (const int read : timed.event->reads) ++readers[read];
  return readers;
}

void add_pass(Savings& savings, const TimedPass& pass, const std::vector<TimelineEvent>& events,
              double cache_bytes) {
  const std::map<int, int> readers = readers_of(pass);
  for (const TimedEvent& timed : pass.events)
    for (const int index : timed.event->reads) {
      const TimelineEvent& producer = events[static_cast<std::size_t>(index)];
      const double read = std::min(producer.cost.bytes_written, timed.event->cost.bytes_read);
      // While anyone else reads it, it must still be written.
      const bool is_only_reader = readers.at(index) == 1 && !producer.output_stays;
      const double written = is_only_reader ? producer.cost.bytes_written : 0;
      if (read + written <= 0) continue;
      Saving& saving = savings[{producer.role, timed.event->role}];
      ++saving.pairs;
      if (producer.cost.bytes_written <= cache_bytes) {
        saving.cached += read + written;
      } else {
        saving.read += read;
        saving.written += written;
      }
    }
}

}  // namespace

std::vector<FusionRow> fusion_rows(const ProfilePhase& phase, std::span<const TimedPass> passes,
                                   const Timeline& timeline, double cache_bytes,
                                   const Ceilings& ceilings) {
  Savings savings;
  const auto num_passes = static_cast<double>(phase.passes);
  for (const TimedPass& pass : passes) add_pass(savings, pass, timeline.events, cache_bytes);
  std::vector<FusionRow> rows;
  for (const auto& [roles, saving] : savings) {
    const double memory = saving.read + saving.written;
    FusionRow row{.phase = phase.name,
                  .producer = roles.first,
                  .consumer = roles.second,
                  .pairs = saving.pairs,
                  .bytes = (memory + saving.cached) / num_passes,
                  .cached_bytes = saving.cached / num_passes};
    const double rate = memory > 0 ? ceilings.bytes_per_s(saving.written / memory) : 0;
    if (rate > 0) row.time_us = memory / rate * kMicro / num_passes;
    const double gap_us_a_pass = phase.clean_gap_us_a_pass.value_or(phase.gap_us / num_passes);
    if (gap_us_a_pass > 0)
      row.overhead_us =
          gap_us_a_pass * static_cast<double>(saving.pairs) / static_cast<double>(phase.operations);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater{}, &FusionRow::bytes);
  return rows;
}

std::vector<LayoutRow> layout_rows(const Timeline& timeline) {
  std::vector<LayoutRow> rows;
  for (const TimelineLayout& layout : timeline.layouts) {
    LayoutRow row{.role = layout.role,
                  .kernel = layout.kernel,
                  .bytes = layout.bytes,
                  .convert_us = layout.convert_us,
                  .saves_us_a_pass = layout.saves_us_a_pass};
    if (layout.saves_us_a_pass && *layout.saves_us_a_pass > 0)
      row.passes_to_pay = layout.convert_us / *layout.saves_us_a_pass;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rooftile
