// SPDX-License-Identifier: Apache-2.0
// The config in a config.json of Hugging Face, with the keys and defaults of the transformers
// library.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/model/config.h"
#include "rooftile/model/config_rules.h"
#include "rooftile/model/strict_json.h"

namespace rooftile {
namespace {

// Typed access to an object; null counts as absent, as in Python.
class Object {
 public:
  Object(const StrictJson& json, std::string name) : json_(&json), name_(std::move(name)) {
    if (!json.is_object()) fail_input(name_ + ": expected an object");
  }

  [[nodiscard]] const StrictJson* find(const char* key) const {
    const auto place = json_->find(key);
    return place == json_->end() || place->is_null() ? nullptr : &*place;
  }
  [[nodiscard]] std::int64_t integer(const char* key) const {
    if (find(key) == nullptr) fail_input(name_ + ": '" + key + "' is missing");
    return integer_or(key, 0);
  }
  [[nodiscard]] std::int64_t integer_or(const char* key, std::int64_t absent) const {
    const StrictJson* value = find(key);
    return value == nullptr ? absent : integer_of(*value, key);
  }
  [[nodiscard]] double number_or(const char* key, double absent) const {
    const StrictJson* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_number()) fail(key, *value, "a number");
    return value->get<double>();
  }
  [[nodiscard]] bool flag_or(const char* key, bool absent) const {
    const StrictJson* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_boolean()) fail(key, *value, "true or false");
    return value->get<bool>();
  }
  [[nodiscard]] std::string text_or(const char* key, const std::string& absent) const {
    const StrictJson* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_string()) fail(key, *value, "a text");
    return value->get<std::string>();
  }
  [[nodiscard]] std::optional<Object> object(const char* key) const {
    const StrictJson* value = find(key);
    if (value == nullptr) return std::nullopt;
    return Object(*value, name_ + ": '" + key + "'");
  }
  /// One integer or a list of them.
  [[nodiscard]] std::vector<std::int64_t> integers(const char* key) const {
    const StrictJson* value = find(key);
    std::vector<std::int64_t> list;
    if (value == nullptr) return list;
    if (!value->is_array()) return {integer_of(*value, key)};
    for (const StrictJson& element : *value) list.push_back(integer_of(element, key));
    return list;
  }
  [[noreturn]] void fail(const char* key, const StrictJson& value, const char* expected) const {
    constexpr std::size_t kShown = 60;
    fail_input(name_ + ": '" + key + "' is " + value.dump().substr(0, kShown) + ", expected " +
               expected);
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  [[nodiscard]] std::int64_t integer_of(const StrictJson& value, const char* key) const {
    const bool is_huge =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!value.is_number_integer() || is_huge) fail(key, value, "a whole number");
    return value.get<std::int64_t>();
  }

  const StrictJson* json_;
  std::string name_;
};

void read_extents(const Object& json, ModelConfig& config) {
  const bool is_gemma = config.architecture == Architecture::gemma3;
  const bool is_llama = config.architecture == Architecture::llama;
  config.vocab = json.integer("vocab_size");
  config.layers = json.integer("num_hidden_layers");
  config.hidden = json.integer("hidden_size");
  config.ffn = json.integer("intermediate_size");
  config.heads = json.integer("num_attention_heads");
  config.kv_heads = is_llama ? json.integer_or("num_key_value_heads", config.heads)
                             : json.integer("num_key_value_heads");
  config.context = json.integer("max_position_embeddings");
  config.rms_eps = json.number_or("rms_norm_eps", 1e-6);
  if (config.heads < 1) fail_input(json.name() + ": 'num_attention_heads' must be at least 1");
  std::int64_t head_dim = config.hidden / config.heads;
  if (is_gemma) head_dim = 256;
  if (config.architecture == Architecture::qwen3) head_dim = 128;
  config.head_dim = json.integer_or("head_dim", head_dim);
  const double share = json.number_or("partial_rotary_factor", 1);
  if (!(share > 0 && share <= 1))
    fail_input(json.name() + ": 'partial_rotary_factor' is " + shortest(share));
  config.rope_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) * share);
}

void read_rope_scaling(const Object& json, std::int64_t context, RopeScalingSettings& scaling) {
  const std::string kind = json.text_or("rope_type", json.text_or("type", "default"));
  scaling.factor = json.number_or("factor", 1);
  scaling.original_context = json.integer_or("original_max_position_embeddings", context);
  if (kind == "linear") {
    scaling.kind = RopeScalingKind::linear;
  } else if (kind == "llama3") {
    scaling.kind = RopeScalingKind::llama3;
    scaling.low_freq_factor = json.number_or("low_freq_factor", 1);
    scaling.high_freq_factor = json.number_or("high_freq_factor", 4);
  } else if (kind == "yarn") {
    scaling.kind = RopeScalingKind::yarn;
    scaling.beta_fast = json.number_or("beta_fast", 32);
    scaling.beta_slow = json.number_or("beta_slow", 1);
    scaling.attention_factor = json.number_or("attention_factor", 0);
    scaling.mscale = json.number_or("mscale", 0);
    scaling.mscale_all_dim = json.number_or("mscale_all_dim", 0);
    scaling.truncate = json.flag_or("truncate", true);
  } else if (kind != "default") {
    throw Error(ErrorCode::unsupported, json.name() + ": rope scaling '" + kind +
                                            "' is not supported; these are: default, linear, "
                                            "llama3, yarn");
  }
  if (scaling.kind == RopeScalingKind::none) scaling = {};
}

// Version 5 of transformers has rope_parameters, of each kind of layer for Gemma 3; before, theta
// and rope_scaling stood apart.
void read_rope(const Object& json, ModelConfig& config) {
  const bool is_gemma = config.architecture == Architecture::gemma3;
  config.rope_theta = json.number_or("rope_theta", is_gemma ? 1e6 : 1e4);
  if (is_gemma) config.rope_local_theta = json.number_or("rope_local_base_freq", 1e4);
  std::optional<Object> rope = json.object("rope_parameters");
  if (!rope) rope = json.object("rope_scaling");
  if (!rope) return;
  if (const auto local = rope->object("sliding_attention"))
    config.rope_local_theta = local->number_or("rope_theta", config.rope_local_theta);
  if (const auto full = rope->object("full_attention")) rope.emplace(*full);
  config.rope_theta = rope->number_or("rope_theta", config.rope_theta);
  read_rope_scaling(*rope, config.context, config.rope_scaling);
}

void read_layer_types(const Object& json, const StrictJson& types, ModelConfig& config) {
  if (!types.is_array() || static_cast<std::int64_t>(types.size()) != config.layers)
    fail_input(json.name() + ": 'layer_types' needs a text for each of " +
               std::to_string(config.layers) + " layers");
  config.is_sliding.clear();
  for (const StrictJson& type : types) {
    if (type != "full_attention" && type != "sliding_attention")
      json.fail("layer_types", type, "full_attention or sliding_attention");
    config.is_sliding.push_back(type == "sliding_attention" && config.sliding_window > 0);
  }
}

void read_window(const Object& json, ModelConfig& config) {
  const bool is_gemma = config.architecture == Architecture::gemma3;
  const bool is_used = is_gemma || json.flag_or("use_sliding_window", false);
  if (is_used && config.architecture != Architecture::llama)
    config.sliding_window = json.integer_or("sliding_window", 4096);
  set_sliding_pattern(config, 0);
  if (config.sliding_window == 0) return;
  if (const StrictJson* types = json.find("layer_types"))
    return read_layer_types(json, *types, config);
  if (is_gemma) return set_sliding_pattern(config, json.integer_or("sliding_window_pattern", 6));
  const std::int64_t first = json.integer_or("max_window_layers", 28);
  for (std::int64_t layer = std::max<std::int64_t>(first, 0); layer < config.layers; ++layer)
    config.is_sliding[static_cast<std::size_t>(layer)] = true;
}

Activation activation_of(const Object& json, Activation absent) {
  const std::string text = json.text_or("hidden_activation", json.text_or("hidden_act", ""));
  if (text.empty()) return absent;
  if (text == "silu" || text == "swish") return Activation::silu;
  if (text == "gelu") return Activation::gelu;
  if (text == "gelu_pytorch_tanh" || text == "gelu_new") return Activation::gelu_tanh;
  throw Error(ErrorCode::unsupported,
              json.name() + ": the activation '" + text +
                  "' is not supported; these are: silu, gelu, gelu_pytorch_tanh");
}

Architecture architecture_of(const Object& json) {
  const std::string type = json.text_or("model_type", "");
  if (type.empty()) fail_input(json.name() + ": 'model_type' is missing");
  if (type == "gemma3_text") return Architecture::gemma3;
  if (type == "gemma3")
    throw Error(ErrorCode::unsupported, json.name() +
                                            ": 'gemma3' reads images too; of that family only "
                                            "gemma3_text is supported");
  return parse_architecture(type, json.name());
}

}  // namespace

ModelConfig config_from_json(std::string_view text, const std::string& name) {
  const StrictJson parsed = parse_strict_json(text, name);
  const Object json(parsed, name);
  ModelConfig config;
  config.architecture = architecture_of(json);
  const bool is_gemma = config.architecture == Architecture::gemma3;
  read_extents(json, config);
  apply_architecture(config);
  config.activation = activation_of(json, config.activation);
  const auto scaled_by = static_cast<double>(config.head_dim);
  config.attention_scale =
      1 / std::sqrt(is_gemma ? json.number_or("query_pre_attn_scalar", 256) : scaled_by);
  read_rope(json, config);
  config.norm_weight_offset = is_gemma ? 1 : 0;
  config.attention_softcap = json.number_or("attn_logit_softcapping", 0);
  config.final_softcap = json.number_or("final_logit_softcapping", 0);
  const bool is_biased = json.flag_or("attention_bias", false);
  config.has_qkv_bias = is_biased || config.architecture == Architecture::qwen2;
  config.has_output_bias = is_biased && config.architecture != Architecture::qwen2;
  config.has_ffn_bias = json.flag_or("mlp_bias", false);
  config.is_tied = json.flag_or("tie_word_embeddings", is_gemma);
  config.eos = json.integers("eos_token_id");
  config.bos = json.integer_or("bos_token_id", -1);
  check_config(config, name);
  read_window(json, config);
  check_config(config, name);
  return config;
}

}  // namespace rooftile
