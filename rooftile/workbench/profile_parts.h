// SPDX-License-Identifier: Apache-2.0
// The steps of make_profile, one file each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rooftile/workbench/profile.h"

namespace rooftile {

/// An operation of the capture with what the analysis needs: its span within its pass, its part of
/// the phase's time, and its floor.
struct TimedEvent {
  const TimelineEvent* event = nullptr;
  double start_us = 0;  // cut to its pass
  double time_us = 0;
  double share_us = 0;  // of the union: overlap is shared out
  Floor floor{};
};

struct TimedPass {
  std::int64_t index = 0;
  const TimelinePass* pass = nullptr;
  std::vector<TimedEvent> events{};  // as in the timeline
  double busy_us = 0;
};

/// All passes of `phase`, in order. Throws Error(bad_input) for impossible figures; what had to be
/// put right is added to `notes`.
std::vector<TimedPass> timed_passes(const std::string& phase, const Timeline& timeline,
                                    const Ceilings& ceilings, std::vector<std::string>& notes);
void check_timeline(const Timeline& timeline);

/// Totals of the calls that have the same `key`, by time, longest first.
std::vector<ProfileRow> rows_by(std::string TimelineEvent::* key,
                                std::span<const TimedPass> passes);

/// The figures of one phase; `passes` is not empty.
ProfilePhase phase_of(const std::string& name, std::span<const TimedPass> passes,
                      const Timeline& timeline, const CleanRun& clean, const Ceilings& ceilings);

/// Nothing where there is no decode, no bandwidth or no weights to speak of.
std::optional<DecodeArithmetic> decode_arithmetic(const ProfiledModel& model,
                                                  const ProfilePhase& decode,
                                                  std::span<const TimedPass> passes,
                                                  const Ceilings& ceilings);

/// Every producer and consumer of the phase by role, most bytes first.
std::vector<FusionRow> fusion_rows(const ProfilePhase& phase, std::span<const TimedPass> passes,
                                   const Timeline& timeline, double cache_bytes,
                                   const Ceilings& ceilings);

std::vector<LayoutRow> layout_rows(const Timeline& timeline);

/// What to do, from the finished figures.
std::vector<Advice> advise(const Profile& profile);

/// The unit that does most of the operations.
Unit main_unit(const Cost& cost);
Cost total_cost(std::span<const TimedPass> passes);

}  // namespace rooftile
