// SPDX-License-Identifier: Apache-2.0
// A made-up request that looks like a real one: 30 layers of 15 operations, a prompt in two chunks,
// 16 tokens decoded. Every figure follows from the shapes and the ceilings below.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/device/device.h"
#include "rooftile/workbench/profile.h"

namespace rooftile::sample {

inline constexpr double kHidden = 576, kKv = 192, kFfn = 1536, kVocab = 49152;
inline constexpr int kLayers = 30;
inline constexpr double kWeightBytes = 2, kActivationBytes = 4;

inline Ceilings ceilings() {
  Ceilings limits;
  limits.read = {42e9, 0.01, "read"};
  limits.triad = {34e9, 0.02, "triad"};
  limits.copy = {31e9, 0.01, "copy"};
  limits.write = {22e9, 0.03, "write"};
  limits.units[static_cast<std::size_t>(Unit::fp32)] = {310e9, 0.02, "fma"};
  limits.units[static_cast<std::size_t>(Unit::bf16)] = {1.24e12, 0.02, "dot"};
  limits.units[static_cast<std::size_t>(Unit::int8)] = {1.3e12, 0.02, "dot8"};
  limits.sheet_bytes_per_s = 51.2e9;
  return limits;
}

inline DeviceProperties device() {
  DeviceProperties properties;
  properties.id = "cpu";
  properties.name = "A made-up 8-core processor";
  properties.kind = "cpu-made-up";
  properties.compute_units = 8;
  properties.last_level_cache_bytes = 2 << 20;
  return properties;
}

inline ProfiledModel model() {
  const double parameters =
      kVocab * kHidden + kLayers * (kHidden * (2 * kHidden + 2 * kKv + 3 * kFfn) + 2 * kHidden);
  return {.name = "synthetic:sample-135m",
          .architecture = "llama",
          .command = "rooftile profile synthetic:sample-135m --prompt 'Once upon a time'",
          .is_synthetic = true,
          .parameters = parameters,
          .weight_bytes = parameters * kWeightBytes,
          .weight_bytes_per_token = parameters * kWeightBytes,
          .kv_bytes_per_token = 2 * kKv * kLayers * kWeightBytes,
          .layers = kLayers,
          .context = 592};
}

/// Lays operations one after the other, each taking its floor over an efficiency.
class Recorder {
 public:
  Recorder(Timeline& timeline, std::string phase, std::int64_t tokens, std::int64_t context)
      : timeline_(timeline),
        tokens_(static_cast<double>(tokens)),
        context_(static_cast<double>(context)),
        now_us_(timeline.passes.empty() ? 0 : timeline.passes.back().end_us + 35) {
    timeline.passes.push_back({.phase = std::move(phase), .tokens = tokens, .start_us = now_us_});
  }

  void record() {
    linear_unit_ = tokens_ > 1 ? Unit::bf16 : Unit::fp32;
    small("token_table", "toy_take/cpu_plain", kHidden, kHidden, 0, {});
    for (layer_ = 0; layer_ < kLayers; ++layer_) layer();
    layer_ = -1;
    small("final_norm", "toy_norm/cpu_simd", kHidden, kHidden, 4, {"ffn_residual"});
    const double all = std::exchange(tokens_, 1);  // only the last row
    linear("lm_head", kHidden, kVocab, "final_norm");
    tokens_ = all;
    timeline_.passes.back().end_us = now_us_ + 3;
  }

 private:
  void layer() {
    const std::string before = layer_ == 0 ? "token_table" : "ffn_residual";
    small("attn_norm", "toy_norm/cpu_simd", kHidden, kHidden, 4, {before});
    linear("q_proj", kHidden, kHidden, "attn_norm");
    linear("k_proj", kHidden, kKv, "attn_norm");
    linear("v_proj", kHidden, kKv, "attn_norm");
    small("qk_rotate", "toy_rotate/cpu_plain", kHidden + kKv, kHidden + kKv, 3,
          {"q_proj", "k_proj"});
    small("cache_append", "toy_append/cpu_plain", 2 * kKv, kKv, 0, {"qk_rotate", "v_proj"})
        .output_stays = true;
    attend();
    linear("o_proj", kHidden, kHidden, "attend");
    small("attn_residual", "toy_add/cpu_simd", 2 * kHidden, kHidden, 0.5, {before, "o_proj"});
    small("ffn_norm", "toy_norm/cpu_simd", kHidden, kHidden, 4, {"attn_residual"});
    linear("ffn_gate", kHidden, kFfn, "ffn_norm");
    linear("ffn_up", kHidden, kFfn, "ffn_norm");
    small("ffn_act", "toy_glu/cpu_simd", 2 * kFfn, kFfn, 6, {"ffn_gate", "ffn_up"});
    linear("ffn_down", kFfn, kHidden, "ffn_act");
    small("ffn_residual", "toy_add/cpu_simd", 2 * kHidden, kHidden, 0.5,
          {"attn_residual", "ffn_down"});
  }

  // `in` and `out`: elements a token; `ops`: operations an input element.
  TimelineEvent& small(const std::string& role, const std::string& kernel, double in, double out,
                       double ops, const std::vector<std::string>& reads) {
    Cost cost;
    cost.bytes_read = in * tokens_ * kActivationBytes;
    cost.bytes_written = out * tokens_ * kActivationBytes;
    cost[Unit::fp32] = ops * in * tokens_;
    // What its producer has just written is still in the cache, if it fits.
    const bool is_cached = cost.bytes() < static_cast<double>(device().last_level_cache_bytes);
    const double time_us = 1.1 + floor_of(cost, ceilings()).time_us / (is_cached ? 1.4 : 0.8);
    return add(role, kernel, cost, time_us, reads);
  }

  void linear(const std::string& role, double in, double out, const std::string& reads) {
    Cost cost;
    cost.bytes_read = in * out * kWeightBytes + in * tokens_ * kActivationBytes;
    cost.bytes_written = out * tokens_ * kActivationBytes;
    cost[linear_unit_] = 2 * in * out * tokens_;
    const double efficiency = tokens_ > 1 ? 0.58 : out < kHidden ? 0.51 : 0.83;
    add(role, tokens_ > 1 ? "toy_linear/cpu_tiles" : "toy_linear/cpu_rows", cost,
        0.9 + floor_of(cost, ceilings()).time_us / efficiency, {reads});
  }

  void attend() {
    Cost cost;
    const double keys = tokens_ > 1 ? context_ - tokens_ / 2 : context_;
    cost.bytes_read = 2 * kKv * context_ * kWeightBytes + kHidden * tokens_ * kActivationBytes;
    cost.bytes_written = kHidden * tokens_ * kActivationBytes;
    cost[Unit::fp32] = 4 * kHidden * keys * tokens_;
    add("attend", "toy_attend/cpu_online", cost, 2.5 + floor_of(cost, ceilings()).time_us / 0.34,
        {"qk_rotate", "cache_append"});
  }

  TimelineEvent& add(const std::string& role, const std::string& kernel, const Cost& cost,
                     double time_us, const std::vector<std::string>& reads) {
    const auto index = static_cast<int>(timeline_.events.size());
    const double jitter = 1 + 0.06 * std::sin(12.9898 * index);
    // Two of the projections run beside each other.
    const bool is_beside = role == "v_proj";
    const double start_us = is_beside ? timeline_.events.back().start_us + 0.4 : now_us_ + 0.8;
    TimelineEvent& event = timeline_.events.emplace_back();
    event = {.op = kernel.substr(0, kernel.find('/')),
             .kernel = kernel,
             .problem = kernel + " tokens=" + std::to_string(static_cast<int>(tokens_)) + " x=f32",
             .role = role,
             .layer = layer_,
             .pass = static_cast<int>(timeline_.passes.size()) - 1,
             .thread = is_beside ? 1 : 0,
             .cost = cost,
             .start_us = start_us,
             .end_us = start_us + time_us * jitter};
    event.is_proven = kernel != "toy_rotate/cpu_plain";
    for (const std::string& name : reads) event.reads.push_back(last_.at(name));
    last_[role] = index;
    now_us_ = std::max(now_us_, event.end_us);
    return event;
  }

  Timeline& timeline_;
  double tokens_;
  double context_;
  double now_us_;
  int layer_ = -1;
  Unit linear_unit_ = Unit::fp32;
  std::map<std::string, int> last_{};
};

inline Timeline timeline() {
  Timeline result;
  Recorder(result, "prefill", 512, 512).record();
  Recorder(result, "prefill", 64, 576).record();
  for (int token = 0; token < 16; ++token) Recorder(result, "decode", 1, 576 + token).record();
  result.layouts = {{.role = "ffn_down",
                     .kernel = "toy_linear/cpu_rows",
                     .bytes = kLayers * kFfn * kHidden * kWeightBytes,
                     .convert_us = 41000,
                     .saves_us_a_pass = 310}};
  result.pairs = {{8000, 8040}, {8100, 8130}, {7900, 7970}};
  return result;
}

/// The capture's passes, each a little faster.
inline CleanRun clean() {
  CleanRun run{.prefill_tokens = 576, .decode_tokens = 16};
  for (const TimelinePass& pass : timeline().passes) {
    const double us = (pass.end_us - pass.start_us) * 0.962;
    if (pass.phase == "prefill") {
      run.prefill_us += us;
    } else {
      run.decode_us.push_back(us);
    }
  }
  return run;
}

inline Profile profile() {
  Profile result = make_profile(model(), timeline(), clean(), device(), ceilings());
  result.date = "2026-01-02T03:04:05Z";
  return result;
}

}  // namespace rooftile::sample
