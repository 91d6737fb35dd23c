// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/rope_options.h"

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

// A table of factors (GGUF's form of llama3) is an argument of the operation, not an option.
std::string scaling_name(const ModelConfig& config, bool is_local) {
  if (is_local) return "none";
  switch (config.rope_scaling.kind) {
    case RopeScalingKind::none:
    case RopeScalingKind::table:
      return "none";
    case RopeScalingKind::linear:
      return "linear";
    case RopeScalingKind::llama3:
      return "llama3";
    case RopeScalingKind::yarn:
      if (!config.rope_scaling.truncate)
        throw Error(ErrorCode::unsupported,
                    "rope scaling yarn with truncate = false is not supported");
      return "yarn";
  }
  throw Error(ErrorCode::internal, "a rope scaling without a name");
}

}  // namespace

std::vector<OptionValue> rope_options(const ModelConfig& c, std::int64_t layer) {
  // Layers with a window may have a base of their own, which is never scaled (Gemma 3).
  const bool is_local = c.is_sliding[static_cast<std::size_t>(layer)] && c.rope_local_theta > 0;
  const RopeScalingSettings& s = c.rope_scaling;
  std::vector<OptionValue> options{
      {"pairing", c.rope_pairing == RopePairing::half ? "half" : "interleaved"},
      {"rotary", std::to_string(c.rope_dim)},
      {"theta", shortest(is_local ? c.rope_local_theta : c.rope_theta)},
      {"scaling", scaling_name(c, is_local)}};
  if (options.back().value == "none") return options;
  options.push_back({"factor", shortest(s.factor)});
  if (s.kind == RopeScalingKind::linear) return options;
  options.push_back({"original_context", std::to_string(s.original_context)});
  if (s.kind == RopeScalingKind::llama3) {
    options.push_back({"low_freq_factor", shortest(s.low_freq_factor)});
    options.push_back({"high_freq_factor", shortest(s.high_freq_factor)});
    return options;
  }
  for (const auto& [name, value] :
       {std::pair{"beta_fast", s.beta_fast}, std::pair{"beta_slow", s.beta_slow},
        std::pair{"attn_factor", s.attention_factor}, std::pair{"mscale", s.mscale},
        std::pair{"mscale_all_dim", s.mscale_all_dim}})
    options.push_back({name, shortest(value)});
  return options;
}

}  // namespace rooftile
