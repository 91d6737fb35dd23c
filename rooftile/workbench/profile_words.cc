// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_words.h"

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

std::string plural(std::int64_t count, const std::string& what) {
  const bool is_es = what.ends_with("s");
  return std::to_string(count) + " " + what + (count == 1 ? "" : is_es ? "es" : "s");
}

std::string percent(double value) { return figures(value) + " %"; }

Headline prefill_headline(const ProfilePhase& phase) {
  Headline line{.label = "Prefill", .value = "-"};
  if (phase.tokens_per_s) line.value = count_words(*phase.tokens_per_s) + " tokens/s";
  line.detail = plural(phase.tokens, "token") + " in " +
                time_text(phase.clean_us.value_or(phase.captured_us));
  return line;
}

Headline decode_headline(const ProfilePhase& phase) {
  Headline line{.label = "Decode", .value = "-"};
  if (phase.tokens_per_s) line.value = count_words(*phase.tokens_per_s) + " tokens/s";
  line.detail = time_text(phase.pass_us()) + " a pass";
  if (phase.clean_pass_us)
    line.detail += " [" + time_text(phase.clean_pass_us->p10) + " - " +
                   time_text(phase.clean_pass_us->p90) + "]";
  return line;
}

}  // namespace

std::string count_words(double count) {
  constexpr double kPlain = 99999;
  return count < kPlain ? figures(count) : rate_text(count, "");
}

std::string model_facts(const ProfiledModel& model) {
  std::vector<std::string> facts;
  if (!model.architecture.empty()) facts.push_back(model.architecture);
  if (model.layers > 0) facts.push_back(plural(model.layers, "layer"));
  if (model.parameters > 0)
    facts.push_back(rate_text(model.parameters, "") + " parameters in " +
                    bytes_text(model.weight_bytes));
  if (model.context > 0) facts.push_back("context " + std::to_string(model.context));
  return join(facts, ", ");
}

std::vector<Headline> headlines(const Profile& profile) {
  std::vector<Headline> lines;
  const ProfilePhase* prefill = profile.phase("prefill");
  const ProfilePhase* decode = profile.phase("decode");
  if (prefill != nullptr) lines.push_back(prefill_headline(*prefill));
  if (decode != nullptr) lines.push_back(decode_headline(*decode));
  if (prefill != nullptr && prefill->mfu_percent)
    lines.push_back({"Prefill MFU", percent(*prefill->mfu_percent),
                     "of the measured " + prefill->mfu_unit + " peak"});
  if (profile.decode && profile.decode->percent_of_floor)
    lines.push_back({"Decode against its floor", percent(*profile.decode->percent_of_floor),
                     "the floor is " + time_text(profile.decode->floor_us) + " a pass"});
  if (decode != nullptr && decode->capture_cost) {
    const CaptureCost& cost = *decode->capture_cost;
    lines.push_back({"Capture cost of decode", percent(cost.percent),
                     "[" + figures(cost.low_percent) + " to " + percent(cost.high_percent) + "], " +
                         plural(cost.pairs, "pair")});
  }
  return lines;
}

std::vector<std::string> decode_sentences(const Profile& profile) {
  if (!profile.decode) return {};
  const DecodeArithmetic& decode = *profile.decode;
  const std::string sequences =
      decode.batch > 1 ? figures(decode.batch) + " sequences" : "one sequence";
  std::vector<std::string> text;
  text.push_back("A pass decodes a token of " + sequences + ". It reads " +
                 bytes_text(decode.weight_bytes) + " of weights and, at a context of " +
                 std::to_string(decode.context) + ", " + bytes_text(decode.kv_bytes) +
                 " of keys and values a sequence; a token needs " + count_words(decode.ops) +
                 " operations.");
  std::string intensity = "That is " + figures(decode.intensity) + " operations a byte";
  if (decode.ridge)
    intensity += "; the ridge of " + decode.unit + " on this device is at " +
                 figures(*decode.ridge) +
                 (decode.intensity < *decode.ridge ? ", so the memory is the limit"
                                                   : ", so the arithmetic is the limit");
  text.push_back(intensity + ".");
  text.push_back("At the measured " + rate_text(decode.read_bytes_per_s, "B/s") +
                 " no pass can take less than " + time_text(decode.floor_us) + ": at most " +
                 figures(decode.floor_tokens_per_s) + " tokens/s." +
                 (decode.percent_of_floor
                      ? " The clean run reaches " + percent(*decode.percent_of_floor) + " of that."
                      : ""));
  if (decode.compute_bound_batch)
    text.push_back("From a batch of about " + figures(*decode.compute_bound_batch) +
                   " the weights are read often enough that the arithmetic binds instead; until "
                   "then another sequence costs little more than its own cache.");
  return text;
}

std::string rate_words(const ProfileRow& row) {
  if (row.gflops && (row.bound == "compute" || !row.gbytes_per_s))
    return rate_text(*row.gflops * 1e9, "FLOP/s");
  return row.gbytes_per_s ? rate_text(*row.gbytes_per_s * 1e9, "B/s") : "-";
}

std::string roof_words(const ProfileRow& row) {
  if (row.bound == "cache") return "in cache";
  return row.percent_of_roof ? percent(*row.percent_of_roof) + " " + row.bound : "-";
}

std::string gain_words(const Advice& advice) {
  if (advice.gain_us)
    return "up to " + time_text(*advice.gain_us) + " a pass" +
           (advice.gain_percent ? ", " + percent(*advice.gain_percent) : "");
  return advice.gain_percent ? "up to " + percent(*advice.gain_percent) + " more tokens/s" : "";
}

std::string saving_words(const FusionRow& row) {
  std::vector<std::string> parts;
  if (row.time_us) parts.push_back(time_text(*row.time_us) + " of memory traffic");
  if (row.cached_bytes > 0)
    parts.emplace_back(row.time_us ? "the rest in cache" : "traffic in cache only");
  if (row.overhead_us && *row.overhead_us > 0)
    parts.push_back(time_text(*row.overhead_us) + " of overhead");
  return parts.empty() ? "-" : join(parts, ", ");
}

std::string layout_words(const LayoutRow& row) {
  std::string text = bytes_text(row.bytes) + " converted for " + row.kernel + " in " +
                     time_text(row.convert_us) + " when loading";
  if (row.passes_to_pay) {
    text += "; it saves " + time_text(*row.saves_us_a_pass) +
            " a pass and has paid for itself after " + figures(*row.passes_to_pay) + " passes";
  } else if (row.saves_us_a_pass) {
    text += "; it saves nothing";
  }
  return text;
}

}  // namespace rooftile
