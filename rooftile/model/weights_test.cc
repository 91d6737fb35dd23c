// SPDX-License-Identifier: Apache-2.0
// Which names are looked for, in files of both kinds.
#include "rooftile/model/weights.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ModelConfig config_of(bool is_gemma) {
  ModelConfig c;
  c.vocab = 7;
  c.layers = 2;
  c.hidden = 8;
  c.ffn = 12;
  c.heads = 2;
  c.kv_heads = 1;
  c.head_dim = 6;
  c.rope_dim = 6;
  c.has_qk_norm = c.has_post_norms = c.is_tied = is_gemma;
  c.has_qkv_bias = !is_gemma;
  return c;
}

std::set<std::string> names_of(const ModelConfig& config, WeightNames names) {
  static float memory[256];
  std::set<std::string> asked;
  find_weights(
      config,
      [&](const std::string& name, const Dims& shape) -> std::optional<TensorView> {
        asked.insert(name);
        return TensorView::contiguous(memory, DType::f32, shape);
      },
      names);
  return asked;
}

TEST(Weights, AreFoundByTheNamesOfGguf) {
  const auto names = names_of(config_of(false), WeightNames::gguf);
  for (const char* name : {"token_embd.weight", "output_norm.weight", "output.weight",
                           "blk.1.attn_q.bias", "blk.0.ffn_norm.weight", "blk.1.ffn_down.weight"})
    EXPECT_THAT(names, Contains(name));
  EXPECT_THAT(names, Not(Contains("blk.0.post_ffw_norm.weight")));
}

// What Llama calls post_attention_layernorm is the norm before its feed-forward block; Gemma's is
// another one.
TEST(Weights, AreFoundByTheNamesOfHuggingFace) {
  const auto llama = names_of(config_of(false), WeightNames::hugging_face);
  const auto gemma = names_of(config_of(true), WeightNames::hugging_face);
  for (const char* name :
       {"model.embed_tokens.weight", "model.norm.weight", "model.layers.1.self_attn.q_proj.weight",
        "model.layers.0.mlp.gate_proj.weight", "model.layers.0.post_attention_layernorm.weight"}) {
    EXPECT_THAT(llama, Contains(name));
    EXPECT_THAT(gemma, Contains(name));
  }
  EXPECT_THAT(llama, Contains("lm_head.weight"));
  EXPECT_THAT(llama, Contains("model.layers.0.self_attn.k_proj.bias"));
  EXPECT_THAT(gemma, Contains("model.layers.0.pre_feedforward_layernorm.weight"));
  EXPECT_THAT(gemma, Contains("model.layers.0.self_attn.q_norm.weight"));
  EXPECT_THAT(gemma, Not(Contains("lm_head.weight")));
}

TEST(Weights, SayWhichIsMissing) {
  const auto source = [](const std::string& name, const Dims& shape) -> std::optional<TensorView> {
    static float memory[256];
    if (name == "blk.1.attn_v.weight") return std::nullopt;
    return TensorView::contiguous(memory, DType::f32, shape);
  };
  try {
    find_weights(config_of(false), source, WeightNames::gguf);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'blk.1.attn_v.weight'"));
  }
}

TEST(Weights, CountTiedOnesOnce) {
  static float memory[256];
  const auto source = [](const std::string&, const Dims& shape) -> std::optional<TensorView> {
    return TensorView::contiguous(memory, DType::f32, shape);
  };
  const ModelConfig config = config_of(true);
  const Weights weights = find_weights(config, source, WeightNames::gguf);
  // A layer: q 12x8, k and v 6x8, o 8x12, three of 12x8, norms 4x8 and 2x6.
  const double layer = 12 * 8 + 2 * 6 * 8 + 8 * 12 + 3 * 12 * 8 + 4 * 8 + 2 * 6;
  EXPECT_EQ(num_parameters(weights), 7 * 8 + 8 + 2 * layer);
  EXPECT_EQ(stored_bytes(weights), 4 * num_parameters(weights));
  EXPECT_EQ(bytes_per_decode(weights), stored_bytes(weights));
}

}  // namespace
}  // namespace rooftile
