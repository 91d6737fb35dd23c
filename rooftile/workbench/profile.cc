// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "rooftile/base/error.h"
#include "rooftile/device/device.h"
#include "rooftile/workbench/profile_parts.h"

namespace rooftile {
namespace {

// A capture that costs more than this changes what it shows.
constexpr double kHeavyCapturePercent = 10;

void check_model(const ProfiledModel& model) {
  for (const double figure : {model.parameters, model.weight_bytes, model.weight_bytes_per_token,
                              model.kv_bytes_per_token, static_cast<double>(model.layers),
                              static_cast<double>(model.context)})
    if (!std::isfinite(figure) || figure < 0)
      fail_input("the model " + model.name + ": its figures must be finite and at least 0");
}

void add_notes(Profile& profile, const CleanRun& clean) {
  if (profile.model.is_synthetic)
    profile.notes.emplace_back(
        "the weights are synthetic: times and traffic are those of the shapes; the text means "
        "nothing");
  if (profile.phases.empty()) profile.notes.emplace_back("the capture has no pass");
  if (clean.prefill_us <= 0 && clean.decode_us.empty())
    profile.notes.emplace_back("no clean run: every time includes the cost of the capture");
  for (const ProfilePhase& phase : profile.phases) {
    if (phase.operations == 0) profile.notes.push_back(phase.name + ": no operation was captured");
    if (phase.capture_cost && phase.capture_cost->percent > kHeavyCapturePercent)
      profile.notes.push_back(phase.name +
                              ": the capture cost more than 10 %; trust its shares, not its times");
  }
  if (profile.device.last_level_cache_bytes <= 0)
    profile.notes.emplace_back(
        "the size of the cache is not known: all traffic counts as memory traffic");
}

}  // namespace

const ProfilePhase* Profile::phase(const std::string& name) const {
  const auto found = std::ranges::find(phases, name, &ProfilePhase::name);
  return found == phases.end() ? nullptr : &*found;
}

Profile make_profile(const ProfiledModel& model, const Timeline& timeline, const CleanRun& clean,
                     const DeviceProperties& device, const Ceilings& ceilings) {
  check_model(model);
  check_timeline(timeline);
  Profile profile{.model = model,
                  .device = {.description = description(device),
                             .last_level_cache_bytes = device.last_level_cache_bytes},
                  .ceilings = ceilings,
                  .date = utc_now()};
  const auto cache_bytes = static_cast<double>(device.last_level_cache_bytes);
  for (const char* name : {"prefill", "decode"}) {
    const std::vector<TimedPass> passes = timed_passes(name, timeline, ceilings, profile.notes);
    if (passes.empty()) continue;
    const ProfilePhase& phase =
        profile.phases.emplace_back(phase_of(name, passes, timeline, clean, ceilings));
    for (FusionRow& row : fusion_rows(phase, passes, timeline, cache_bytes, ceilings))
      profile.fusion.push_back(std::move(row));
    if (phase.name == "decode") profile.decode = decode_arithmetic(model, phase, passes, ceilings);
  }
  std::ranges::stable_sort(profile.fusion, std::greater{}, &FusionRow::bytes);
  profile.layouts = layout_rows(timeline);
  add_notes(profile, clean);
  profile.advice = advise(profile);
  return profile;
}

}  // namespace rooftile
