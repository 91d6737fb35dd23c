// SPDX-License-Identifier: Apache-2.0
// Time, traffic and roof by kernel and by role.
#include <algorithm>
#include <functional>
#include <map>

#include "rooftile/workbench/profile_parts.h"

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

// The sums that a row's figures are made of.
struct Sums {
  ProfileRow row{};
  double share_us = 0;
  double longest_us = -1;
  double roof_us = 0;
  double lost_us = 0;
  double memory_us = 0;  // of the calls that the memory binds
  double compute_us = 0;
  bool has_roof = true;  // of every call
};

void add(Sums& sums, const TimedEvent& timed) {
  const TimelineEvent& event = *timed.event;
  ProfileRow& row = sums.row;
  if (row.calls == 0) row.op = event.op;
  if (row.op != event.op) row.op.clear();
  if (timed.time_us > sums.longest_us) {
    sums.longest_us = timed.time_us;
    row.problem = event.problem;
  }
  ++row.calls;
  row.unproven_calls += event.is_proven ? 0 : 1;
  row.time_us += timed.time_us;
  row.bytes += event.cost.bytes();
  row.ops += event.cost.total_ops();
  sums.share_us += timed.share_us;
  sums.roof_us += timed.floor.time_us;
  sums.lost_us += std::max(0.0, timed.time_us - timed.floor.time_us);
  (timed.floor.bound == Bound::compute ? sums.compute_us : sums.memory_us) += timed.floor.time_us;
  // A call that moves and computes nothing loses all its time; one whose ceiling is not known
  // cannot be judged.
  const bool costs_something = event.cost.bytes() > 0 || event.cost.total_ops() > 0;
  if (costs_something && timed.floor.bound == Bound::none) sums.has_roof = false;
}

void place_on_roof(const Sums& sums, ProfileRow& row) {
  if (!sums.has_roof) return;
  row.roof_us = sums.roof_us;
  row.lost_us = sums.lost_us;
  if (sums.roof_us <= 0) return;
  const bool is_compute = sums.compute_us > sums.memory_us;
  row.bound = is_compute ? "compute" : "memory";
  row.attainable = (is_compute ? row.ops : row.bytes) / sums.roof_us * kMicro / kGiga;
  if (row.time_us <= 0) return;
  if (!is_compute && row.time_us < sums.roof_us) {
    row.bound = "cache";  // memory alone could not have served it
  } else {
    row.percent_of_roof = sums.roof_us / row.time_us * 100;
  }
}

ProfileRow finished(const Sums& sums, double busy_us) {
  ProfileRow row = sums.row;
  if (busy_us > 0) row.share_percent = sums.share_us / busy_us * 100;
  if (row.time_us > 0 && row.bytes > 0) row.gbytes_per_s = row.bytes / row.time_us * kMicro / kGiga;
  if (row.time_us > 0 && row.ops > 0) row.gflops = row.ops / row.time_us * kMicro / kGiga;
  if (row.bytes > 0 && row.ops > 0) row.intensity = row.ops / row.bytes;
  place_on_roof(sums, row);
  return row;
}

}  // namespace

std::vector<ProfileRow> rows_by(std::string TimelineEvent::* key,
                                std::span<const TimedPass> passes) {
  std::map<std::string, Sums> by_key;
  double busy_us = 0;
  for (const TimedPass& pass : passes) {
    busy_us += pass.busy_us;
    for (const TimedEvent& timed : pass.events) {
      Sums& sums = by_key[timed.event->*key];
      sums.row.name = timed.event->*key;
      add(sums, timed);
    }
  }
  std::vector<ProfileRow> rows;
  for (const auto& [name, sums] : by_key) rows.push_back(finished(sums, busy_us));
  std::ranges::stable_sort(rows, std::greater{}, &ProfileRow::time_us);
  return rows;
}

}  // namespace rooftile
