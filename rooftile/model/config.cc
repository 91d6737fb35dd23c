// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/config.h"

#include <array>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/model/config_rules.h"

namespace rooftile {
namespace {

// Far above every model; the products of two fit 63 bits.
constexpr std::int64_t kMostExtent = 1 << 30;
constexpr std::int64_t kMostLayers = 10000;

struct Range {
  const char* what;
  std::int64_t value;
  std::int64_t most;
};

void check_numbers(const ModelConfig& config, const std::string& name) {
  const std::array ranges{Range{"vocab", config.vocab, kMostExtent},
                          Range{"layers", config.layers, kMostLayers},
                          Range{"hidden", config.hidden, kMostExtent},
                          Range{"ffn", config.ffn, kMostExtent},
                          Range{"heads", config.heads, kMostExtent},
                          Range{"kv_heads", config.kv_heads, kMostExtent},
                          Range{"head_dim", config.head_dim, kMostExtent},
                          Range{"context", config.context, kMostExtent},
                          Range{"rope_dim", config.rope_dim, kMostExtent}};
  for (const auto& [what, value, most] : ranges)
    if (value < 1 || value > most)
      fail_input(name + ": " + what + " is " + std::to_string(value) + ", expected 1 to " +
                 std::to_string(most));
}

}  // namespace

std::string_view name(Architecture architecture) {
  static constexpr const char* kNames[]{"llama", "qwen2", "qwen3", "gemma3"};
  return kNames[static_cast<std::size_t>(architecture)];
}

Architecture parse_architecture(std::string_view text, const std::string& name) {
  std::string known;
  for (const Architecture architecture :
       {Architecture::llama, Architecture::qwen2, Architecture::qwen3, Architecture::gemma3}) {
    if (rooftile::name(architecture) == text) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(rooftile::name(architecture));
  }
  throw Error(ErrorCode::unsupported, name + ": the architecture '" + std::string(text) +
                                          "' is not supported; these are: " + known);
}

void apply_architecture(ModelConfig& config) {
  const bool is_gemma = config.architecture == Architecture::gemma3;
  config.has_qk_norm = is_gemma || config.architecture == Architecture::qwen3;
  config.has_post_norms = is_gemma;
  config.activation = is_gemma ? Activation::gelu_tanh : Activation::silu;
  config.embedding_scale = is_gemma ? std::sqrt(static_cast<double>(config.hidden)) : 1;
}

void set_sliding_pattern(ModelConfig& config, std::int64_t period) {
  config.is_sliding.clear();
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    config.is_sliding.push_back(config.sliding_window > 0 && period > 0 &&
                                (layer + 1) % period != 0);
}

void check_config(const ModelConfig& config, const std::string& name) {
  check_numbers(config, name);
  if (config.heads % config.kv_heads != 0)
    fail_input(name + ": " + std::to_string(config.heads) + " heads do not share " +
               std::to_string(config.kv_heads) + " heads of keys and values evenly");
  if (config.rope_dim % 2 != 0 || config.rope_dim > config.head_dim)
    fail_input(name + ": rope_dim is " + std::to_string(config.rope_dim) +
               ", expected an even number to head_dim, " + std::to_string(config.head_dim));
  if (config.sliding_window < 0 || config.sliding_window > kMostExtent)
    fail_input(name + ": sliding_window is " + std::to_string(config.sliding_window));
  const auto positive = [&](const char* what, double value) {
    if (!(value > 0) || !std::isfinite(value))
      fail_input(name + ": " + what + " is " + shortest(value) + ", expected more than 0");
  };
  positive("rms_eps", config.rms_eps);
  positive("rope_theta", config.rope_theta);
  positive("attention_scale", config.attention_scale);
  positive("the factor of the rope scaling", config.rope_scaling.factor);
  const RopeScalingKind kind = config.rope_scaling.kind;
  if ((kind == RopeScalingKind::llama3 || kind == RopeScalingKind::yarn) &&
      config.rope_scaling.original_context < 1)
    fail_input(name + ": the rope scaling lacks the original context");
  for (const std::int64_t token : config.eos)
    if (token < 0 || token >= config.vocab)
      fail_input(name + ": the end token " + std::to_string(token) + " is not one of " +
                 std::to_string(config.vocab));
  if (config.bos < -1 || config.bos >= config.vocab)
    fail_input(name + ": the begin token " + std::to_string(config.bos) + " is not one of " +
               std::to_string(config.vocab));
}

}  // namespace rooftile
