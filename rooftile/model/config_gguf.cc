// SPDX-License-Identifier: Apache-2.0
// The config in the metadata of a GGUF file, with the keys that llama.cpp writes.
#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/model/config.h"
#include "rooftile/model/config_rules.h"
#include "rooftile/model/gguf.h"

namespace rooftile {
namespace {

// "ARCHITECTURE.REST".
class Keys {
 public:
  Keys(const GgufMetadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(std::string(architecture) + ".") {}

  [[nodiscard]] std::int64_t extent(const char* key) const {
    return metadata_.get_u32(prefix_ + key);
  }
  [[nodiscard]] std::int64_t extent_or(const char* key, std::int64_t absent) const {
    return metadata_.find_u32(prefix_ + key).value_or(static_cast<std::uint32_t>(absent));
  }
  [[nodiscard]] double number(const char* key) const { return metadata_.get_f32(prefix_ + key); }
  [[nodiscard]] double number_or(const char* key, double absent) const {
    const auto found = metadata_.find_f32(prefix_ + key);
    return found ? double{*found} : absent;
  }
  [[nodiscard]] std::string text_or(const char* key, const char* absent) const {
    return std::string(metadata_.find_string(prefix_ + key).value_or(absent));
  }

 private:
  const GgufMetadata& metadata_;
  std::string prefix_;
};

void read_extents(const Keys& keys, const GgufContent& gguf, ModelConfig& config) {
  const std::string& file = gguf.metadata.file();
  const ModelTensor& embedding = gguf.tensors["token_embd.weight"];
  if (embedding.shape.rank() != 2) fail_input(file + ": token_embd.weight is no matrix");
  config.vocab = embedding.shape[0];
  config.layers = keys.extent("block_count");
  config.hidden = keys.extent("embedding_length");
  config.ffn = keys.extent("feed_forward_length");
  config.heads = keys.extent("attention.head_count");
  config.kv_heads = keys.extent_or("attention.head_count_kv", config.heads);
  config.context = keys.extent("context_length");
  config.rms_eps = keys.number("attention.layer_norm_rms_epsilon");
  if (config.heads < 1) fail_input(file + ": attention.head_count is 0");
  if (embedding.shape[1] != config.hidden)
    fail_input(file + ": token_embd.weight is " + to_string(embedding.shape) +
               ", embedding_length is " + std::to_string(config.hidden));
  config.head_dim = keys.extent_or("attention.key_length", config.hidden / config.heads);
  if (keys.extent_or("attention.value_length", config.head_dim) != config.head_dim)
    throw Error(ErrorCode::unsupported, file + ": values of another length than keys");
  config.rope_dim = keys.extent_or("rope.dimension_count", config.head_dim);
}

void read_rope_scaling(const Keys& keys, const GgufContent& gguf, RopeScalingSettings& scaling) {
  const std::string kind = keys.text_or("rope.scaling.type", "none");
  scaling.factor = keys.number_or("rope.scaling.factor", keys.number_or("rope.scale_linear", 1));
  if (scaling.factor == 0) scaling.factor = 1;  // llama.cpp: 0 says that there is none
  scaling.original_context = keys.extent_or("rope.scaling.original_context_length", 0);
  if (kind == "yarn") {
    scaling.kind = RopeScalingKind::yarn;
    scaling.attention_factor = keys.number_or("rope.scaling.yarn_attn_factor",
                                              keys.number_or("rope.scaling.attn_factor", 0));
    scaling.beta_fast = keys.number_or("rope.scaling.yarn_beta_fast", 32);
    scaling.beta_slow = keys.number_or("rope.scaling.yarn_beta_slow", 1);
  } else if (kind == "linear" || (kind == "none" && scaling.factor != 1)) {
    scaling.kind = scaling.factor == 1 ? RopeScalingKind::none : RopeScalingKind::linear;
  } else if (kind != "none") {
    throw Error(ErrorCode::unsupported, gguf.metadata.file() + ": rope scaling '" + kind +
                                            "' is not supported; these are: none, linear, yarn");
  }
  if (gguf.tensors.find("rope_freqs.weight") == nullptr) return;
  if (scaling.kind != RopeScalingKind::none)
    throw Error(ErrorCode::unsupported,
                gguf.metadata.file() + ": rope_freqs.weight beside rope scaling '" + kind + "'");
  scaling.kind = RopeScalingKind::table;
}

void read_tokens(const GgufMetadata& metadata, ModelConfig& config) {
  const auto token = [&](const char* key) -> std::int64_t {
    const auto found = metadata.find_u32(key);
    return found ? std::int64_t{*found} : -1;
  };
  config.bos = token("tokenizer.ggml.bos_token_id");
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    const std::int64_t end = token(key);
    if (end >= 0 && std::ranges::find(config.eos, end) == config.eos.end())
      config.eos.push_back(end);
  }
}

void read_gemma(const Keys& keys, ModelConfig& config) {
  constexpr std::int64_t kLayersOf27b = 62;  // it alone scales by another length
  if (config.layers == kLayersOf27b)
    config.attention_scale =
        1 / std::sqrt(static_cast<double>(config.hidden) / static_cast<double>(config.heads));
  config.rope_local_theta = keys.number_or("rope.freq_base_swa", 10000);
  config.sliding_window = keys.extent_or("attention.sliding_window", 0);
  config.attention_softcap = keys.number_or("attn_logit_softcapping", 0);
  config.final_softcap = keys.number_or("final_logit_softcapping", 0);
}

}  // namespace

ModelConfig config_from_gguf(const GgufContent& gguf) {
  const GgufMetadata& metadata = gguf.metadata;
  ModelConfig config;
  const std::string_view architecture = metadata.get_string("general.architecture");
  config.architecture = parse_architecture(architecture, metadata.file());
  const Keys keys(metadata, architecture);
  const bool is_gemma = config.architecture == Architecture::gemma3;
  read_extents(keys, gguf, config);
  apply_architecture(config);
  config.attention_scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  config.rope_theta = keys.number_or("rope.freq_base", is_gemma ? 1e6 : 1e4);
  read_rope_scaling(keys, gguf, config.rope_scaling);
  if (is_gemma) read_gemma(keys, config);
  if (config.architecture == Architecture::llama) config.rope_pairing = RopePairing::interleaved;
  config.has_qkv_bias = gguf.tensors.find("blk.0.attn_q.bias") != nullptr;
  config.has_output_bias = gguf.tensors.find("blk.0.attn_output.bias") != nullptr;
  config.has_ffn_bias = gguf.tensors.find("blk.0.ffn_up.bias") != nullptr;
  config.is_tied = gguf.tensors.find("output.weight") == nullptr;
  read_tokens(metadata, config);
  check_config(config, metadata.file());
  constexpr std::int64_t kGemmaPeriod = 6;
  set_sliding_pattern(config, keys.extent_or("attention.sliding_window_pattern", kGemmaPeriod));
  return config;
}

}  // namespace rooftile
