// SPDX-License-Identifier: Apache-2.0
// What to do next. First whether it is right at all; then the kernel that loses most time, by time
// and not by count; then the overhead, fusion, fewer bytes, and a larger batch. Each with its
// reason in numbers and the most that it can gain; what gains little is left out.
#include <algorithm>
#include <cmath>
#include <functional>

#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_parts.h"

namespace rooftile {
namespace {

constexpr double kLeastPercent = 2;  // of a pass: below it no advice is given
constexpr std::size_t kMostKernels = 4;
constexpr std::size_t kMostFusions = 3;
constexpr std::size_t kAll = 99;
constexpr double kLeanWeightBits = 4.5;  // four bits and a 16-bit scale for every 32

std::string percent_text(double percent) { return figures(percent) + " %"; }

// What a gain of one pass is worth to the whole request.
double total_gain(const Profile& profile, const Advice& advice) {
  return advice.gain_us.value_or(0) * static_cast<double>(profile.phase(advice.phase)->passes);
}

Advice gain(const ProfilePhase& phase, const char* topic, double gain_us) {
  return {.topic = topic,
          .phase = phase.name,
          .what = {},
          .why = {},
          .gain_us = gain_us,
          .gain_percent = phase.pass_us() > 0 ? gain_us / phase.pass_us() * 100 : 0};
}

// Keeps those worth their while, best for the request first, at most `most`.
void add_best(const Profile& profile, std::vector<Advice> candidates, std::size_t most,
              std::vector<Advice>& advice) {
  std::erase_if(candidates,
                [](const Advice& one) { return !(*one.gain_percent >= kLeastPercent); });
  std::ranges::stable_sort(candidates, std::greater{},
                           [&](const Advice& one) { return total_gain(profile, one); });
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i)
    advice.push_back(std::move(candidates[i]));
}

void advise_correctness(const Profile& profile, std::vector<Advice>& advice) {
  std::vector<std::string> names;
  std::vector<std::string> shares;
  for (const ProfilePhase& phase : profile.phases) {
    double share = 0;
    for (const ProfileRow& row : phase.kernels) {
      if (row.unproven_calls == 0) continue;
      share += row.share_percent;
      if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
    }
    if (share > 0) shares.push_back(percent_text(share) + " of " + phase.name);
  }
  if (names.empty()) return;
  Advice one{.topic = "correctness", .phase = {}, .what = {}, .why = {}};
  one.what = "Verify " + join(names, ", ") + " before tuning anything";
  one.why = "no current proof on this device";
  if (!shares.empty()) one.why += "; the time in operations there is " + join(shares, " and ");
  advice.push_back(std::move(one));
}

std::string remedy(const std::string& bound) {
  return bound == "compute"
             ? "try more independent accumulators, larger tiles, or a narrower type on a matrix unit"
             : "try reads in order and early in flight, one pass over the data, all cores at work";
}

std::string rate_at(const ProfileRow& row) {
  const bool is_compute = row.bound == "compute";
  const double now = (is_compute ? row.gflops : row.gbytes_per_s).value_or(0) * 1e9;
  const char* unit = is_compute ? "FLOP/s" : "B/s";
  return rate_text(now, unit) + " of " + rate_text(row.attainable.value_or(0) * 1e9, unit);
}

void advise_kernels(const Profile& profile, std::vector<Advice>& advice) {
  std::vector<Advice> candidates;
  for (const ProfilePhase& phase : profile.phases)
    for (const ProfileRow& row : phase.kernels) {
      if (!row.lost_us || !row.percent_of_roof) continue;
      // The capture slows operations too: what is lost cannot be more than the clean pass.
      const double lost_us =
          std::min(*row.lost_us / static_cast<double>(phase.passes), phase.pass_us());
      Advice one = gain(phase, "kernel", lost_us);
      one.what = "Bring " + row.name + " closer to its roof";
      one.why = row.bound + "-bound at " + percent_text(*row.percent_of_roof) + " of the roof (" +
                rate_at(row) + "), " + percent_text(row.share_percent) +
                " of the time in operations; " + remedy(row.bound);
      candidates.push_back(std::move(one));
    }
  add_best(profile, std::move(candidates), kMostKernels, advice);
}

void advise_overhead(const Profile& profile, std::vector<Advice>& advice) {
  std::vector<Advice> candidates;
  for (const ProfilePhase& phase : profile.phases) {
    if (phase.operations == 0) continue;
    const auto passes = static_cast<double>(phase.passes);
    const double gap_us = phase.clean_gap_us_a_pass.value_or(phase.gap_us / passes);
    Advice one = gain(phase, "overhead", gap_us);
    const double operations = static_cast<double>(phase.operations) / passes;
    one.what = "Launch fewer and larger operations, or do less around each launch";
    one.why = time_text(gap_us) + " of a pass is between its " + figures(operations) +
              " operations, " + time_text(gap_us / operations) + " each";
    candidates.push_back(std::move(one));
  }
  add_best(profile, std::move(candidates), kAll, advice);
}

void advise_fusion(const Profile& profile, std::vector<Advice>& advice) {
  std::vector<Advice> candidates;
  for (const FusionRow& row : profile.fusion) {
    Advice one = gain(*profile.phase(row.phase), "fusion",
                      row.time_us.value_or(0) + row.overhead_us.value_or(0));
    const double memory_bytes = row.bytes - row.cached_bytes;
    one.what = "Fuse " + row.producer + " into " + row.consumer;
    one.why = memory_bytes > 0
                  ? bytes_text(memory_bytes) + " a pass need not go through memory"
                  : bytes_text(row.bytes) + " a pass, though in cache; what is saved is overhead";
    candidates.push_back(std::move(one));
  }
  add_best(profile, std::move(candidates), kMostFusions, advice);
}

bool is_memory_bound(const DecodeArithmetic& decode) {
  return !decode.compute_bound_batch || decode.batch < *decode.compute_bound_batch;
}

void advise_quantising(const Profile& profile, std::vector<Advice>& advice) {
  const DecodeArithmetic& decode = *profile.decode;
  const ProfilePhase& phase = *profile.phase("decode");
  const double us_a_byte = 1e6 / decode.read_bytes_per_s;
  std::vector<Advice> candidates;
  if (profile.model.parameters > 0) {
    const double bits = profile.model.weight_bytes * 8 / profile.model.parameters;
    const double saved = decode.weight_bytes * std::max(0.0, 1 - kLeanWeightBits / bits);
    Advice one = gain(phase, "quantise", saved * us_a_byte);
    one.what = "Store the weights in about 4.5 bits each";
    one.why = "decode is memory-bound and reads " + bytes_text(decode.weight_bytes) +
              " of weights a pass at " + figures(bits) + " bits each";
    candidates.push_back(std::move(one));
  }
  const double kv_bytes = decode.batch * decode.kv_bytes;
  Advice one = gain(phase, "quantise", kv_bytes / 2 * us_a_byte);
  one.what = "Store keys and values in half the bits";
  one.why = "decode is memory-bound and reads " + bytes_text(kv_bytes) +
            " of cache a pass at a context of " + std::to_string(decode.context);
  candidates.push_back(std::move(one));
  add_best(profile, std::move(candidates), kAll, advice);
}

// From one more doubling of the batch: the weights are read once for twice the tokens.
void advise_batching(const Profile& profile, std::vector<Advice>& advice) {
  const DecodeArithmetic& decode = *profile.decode;
  if (!decode.compute_bound_batch || decode.ops <= 0) return;
  const double batch = std::floor(*decode.compute_bound_batch);
  if (batch < 2 * decode.batch) return;
  const double us_a_byte = 1e6 / decode.read_bytes_per_s;
  const double pass_us =
      (decode.weight_bytes + batch * decode.kv_bytes) * us_a_byte;  // up to here memory binds
  const double rate = batch / pass_us * 1e6;
  Advice one{.topic = "batch", .phase = "decode", .what = {}, .why = {}};
  one.gain_percent = (rate / decode.floor_tokens_per_s - 1) * 100;
  if (!(*one.gain_percent >= kLeastPercent)) return;
  one.what = "Decode up to " + shortest(batch) + " sequences together";
  one.why = "intensity " + figures(decode.intensity) + " is below the ridge of " +
            figures(decode.ridge.value_or(0)) + " operations a byte; the floor rises from " +
            figures(decode.floor_tokens_per_s) + " to " + figures(rate) + " tokens/s";
  advice.push_back(std::move(one));
}

}  // namespace

std::vector<Advice> advise(const Profile& profile) {
  std::vector<Advice> advice;
  advise_correctness(profile, advice);
  advise_kernels(profile, advice);
  advise_overhead(profile, advice);
  advise_fusion(profile, advice);
  if (profile.decode && is_memory_bound(*profile.decode)) {
    advise_quantising(profile, advice);
    advise_batching(profile, advice);
  }
  return advice;
}

}  // namespace rooftile
