// SPDX-License-Identifier: Apache-2.0
// What a transformer is made of, the same whether it came from GGUF metadata or from the
// config.json of Hugging Face.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/ops/rope/rope.h"

namespace ROOFTILE_API rooftile {

struct GgufContent;

enum class Architecture : std::uint8_t { llama, qwen2, qwen3, gemma3 };
std::string_view name(Architecture architecture);

enum class RopeScalingKind : std::uint8_t {
  none,
  linear,
  llama3,
  yarn,
  table,  // GGUF's form of llama3: tensor rope_freqs.weight divides each frequency
};

/// How positions beyond the trained context are rotated. Only what the kind needs is set.
struct RopeScalingSettings {
  RopeScalingKind kind = RopeScalingKind::none;
  double factor = 1;
  std::int64_t original_context = 0;  // llama3, yarn
  double low_freq_factor = 1;         // llama3
  double high_freq_factor = 4;        // llama3
  double beta_fast = 32;              // yarn
  double beta_slow = 1;               // yarn
  double attention_factor = 0;        // yarn: of sines and cosines; 0: 0.1 ln(factor) + 1
  double mscale = 0;                  // yarn as DeepSeek has it; 0: absent
  double mscale_all_dim = 0;
  bool truncate = true;  // yarn: whether the ramp's ends are rounded to whole pairs
};

enum class Activation : std::uint8_t { silu, gelu, gelu_tanh };

struct ModelConfig {
  Architecture architecture = Architecture::llama;
  std::int64_t vocab = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t rope_dim = 0;  // the first elements of a head that rotate
  std::int64_t context = 0;   // positions trained on, after scaling
  double rms_eps = 1e-6;
  double attention_scale = 0;  // of the logits, 1/sqrt(head_dim) where nothing else is said

  /// Llama weights in GGUF have their rows permuted for interleaved pairs, all others are for
  /// halves.
  RopePairing rope_pairing = RopePairing::half;
  double rope_theta = 10000;
  double rope_local_theta = 0;  // of the layers with a window, unscaled; 0: as the others
  RopeScalingSettings rope_scaling{};

  std::int64_t sliding_window = 0;  // keys that a query sees, its own included; 0: no layer has one
  std::vector<bool> is_sliding{};   // of each layer
  double attention_softcap = 0;     // cap * tanh(x / cap); 0: none
  double final_softcap = 0;

  bool has_qk_norm = false;
  bool has_qkv_bias = false;
  bool has_output_bias = false;  // of the attention's output projection
  bool has_ffn_bias = false;
  bool has_post_norms = false;  // norms after attention and after the ffn, before the residual
  bool is_tied = false;         // the output matrix is the embedding
  double embedding_scale = 1;
  double norm_weight_offset = 0;  // 1 where files store w - 1 (Gemma of Hugging Face)
  Activation activation = Activation::silu;

  std::int64_t bos = -1;  // token ids; -1, or an empty list: none is named
  std::vector<std::int64_t> eos{};
};

/// From the metadata that llama.cpp writes, and from which tensors are there (biases, rope_freqs,
/// output.weight). Throws Error(bad_input) that names the file and key for what is missing or
/// impossible, Error(unsupported) for an architecture or scaling that is not known here.
ModelConfig config_from_gguf(const GgufContent& gguf);

/// From the text of a config.json; `name` stands in errors. model_type: llama, qwen2, qwen3 or
/// gemma3_text. Absent keys have the defaults of the transformers library where those do not depend
/// on the model's size. Throws as above.
ModelConfig config_from_json(std::string_view text, const std::string& name);

}  // namespace rooftile
