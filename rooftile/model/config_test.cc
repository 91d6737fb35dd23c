// SPDX-License-Identifier: Apache-2.0
// Configs from both kinds of file. The numbers are those of published models.
#include "rooftile/model/config.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/model/gguf.h"
#include "rooftile/model/test_gguf_writer.h"

namespace rooftile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelConfig of_gguf(const GgufWriter& writer) {
  const std::string file = writer.file();
  return config_from_gguf(parse_gguf(bytes_of_text(file), "m.gguf"));
}

ModelConfig of_json(const std::string& text) { return config_from_json(text, "config.json"); }

template <class Read>
std::string refusal(Read read) {
  try {
    (void)read();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The keys that every file has, and more.
std::string json_of(const std::string& type, const std::string& more = "") {
  return R"({"model_type":")" + type +
         R"(","vocab_size":1000,"num_hidden_layers":12,"hidden_size":640,"intermediate_size":2048,)"
         R"("num_attention_heads":4,"num_key_value_heads":1,"max_position_embeddings":32768)" +
         (more.empty() ? "" : "," + more) + "}";
}

TEST(ConfigOfGguf, Llama) {
  const ModelConfig config = of_gguf(small_model("llama"));
  EXPECT_EQ(config.architecture, Architecture::llama);
  EXPECT_EQ(config.vocab, 3);
  EXPECT_EQ(config.layers, 12);
  EXPECT_EQ(config.hidden, 64);
  EXPECT_EQ(config.ffn, 128);
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.rope_dim, 16);
  EXPECT_EQ(config.context, 4096);
  EXPECT_FLOAT_EQ(static_cast<float>(config.rms_eps), 1e-5F);
  EXPECT_EQ(config.rope_theta, 5e5);
  EXPECT_EQ(config.rope_pairing, RopePairing::interleaved);
  EXPECT_EQ(config.attention_scale, 0.25);
  EXPECT_EQ(config.activation, Activation::silu);
  EXPECT_TRUE(config.is_tied);
  EXPECT_FALSE(config.has_qkv_bias || config.has_qk_norm || config.has_post_norms);
  EXPECT_EQ(config.bos, 1);
  EXPECT_THAT(config.eos, ElementsAre(2));
  EXPECT_EQ(config.is_sliding, std::vector<bool>(12, false));
}

TEST(ConfigOfGguf, TensorsSayWhatIsThere) {
  GgufWriter writer = small_model("qwen2");
  writer.add_tensor("blk.0.attn_q.bias", {4}, 0, std::string(16, '\0'));
  writer.add_tensor("output.weight", {4}, 0, std::string(16, '\0'));
  const ModelConfig config = of_gguf(writer);
  EXPECT_EQ(config.rope_pairing, RopePairing::half);
  EXPECT_TRUE(config.has_qkv_bias);
  EXPECT_FALSE(config.has_output_bias);
  EXPECT_FALSE(config.is_tied);
  EXPECT_TRUE(of_gguf(small_model("qwen3")).has_qk_norm);
}

TEST(ConfigOfGguf, Gemma) {
  GgufWriter writer = small_model("gemma3");
  writer.add_u32("gemma3.attention.sliding_window", 512);
  writer.add_u32("gemma3.attention.key_length", 256);
  writer.add_f32("gemma3.final_logit_softcapping", 30);
  const ModelConfig config = of_gguf(writer);
  EXPECT_EQ(config.head_dim, 256);
  EXPECT_EQ(config.attention_scale, 1.0 / 16);
  EXPECT_EQ(config.embedding_scale, 8);
  EXPECT_EQ(config.norm_weight_offset, 0) << "the file holds 1 + w";
  EXPECT_EQ(config.activation, Activation::gelu_tanh);
  EXPECT_EQ(config.rope_local_theta, 10000);
  EXPECT_EQ(config.final_softcap, 30);
  EXPECT_EQ(config.attention_softcap, 0);
  EXPECT_TRUE(config.has_post_norms && config.has_qk_norm);
  for (std::size_t layer = 0; layer < 12; ++layer)
    EXPECT_EQ(config.is_sliding[layer], layer % 6 != 5) << layer;
}

TEST(ConfigOfGguf, RopeScaling) {
  GgufWriter linear = small_model("llama"), yarn = small_model("qwen2"),
             table = small_model("llama"), other = small_model("llama");
  linear.add_string("llama.rope.scaling.type", "linear");
  linear.add_f32("llama.rope.scaling.factor", 8);
  EXPECT_EQ(of_gguf(linear).rope_scaling.kind, RopeScalingKind::linear);
  EXPECT_EQ(of_gguf(linear).rope_scaling.factor, 8);
  yarn.add_string("qwen2.rope.scaling.type", "yarn");
  yarn.add_f32("qwen2.rope.scaling.factor", 4);
  EXPECT_THAT(refusal([&] { return of_gguf(yarn); }), HasSubstr("original context"));
  yarn.add_u32("qwen2.rope.scaling.original_context_length", 32768);
  EXPECT_EQ(of_gguf(yarn).rope_scaling.kind, RopeScalingKind::yarn);
  EXPECT_EQ(of_gguf(yarn).rope_scaling.original_context, 32768);
  EXPECT_EQ(of_gguf(yarn).rope_scaling.beta_fast, 32);
  table.add_tensor("rope_freqs.weight", {8}, 0, std::string(32, '\0'));
  EXPECT_EQ(of_gguf(table).rope_scaling.kind, RopeScalingKind::table);
  other.add_string("llama.rope.scaling.type", "longrope");
  EXPECT_THAT(refusal([&] { return of_gguf(other); }), HasSubstr("'longrope' is not supported"));
}

TEST(ConfigOfGguf, RefusesWhatItCannotBe) {
  const auto message = [](const GgufWriter& writer) {
    return refusal([&] { return of_gguf(writer); });
  };
  EXPECT_THAT(message(GgufWriter()), HasSubstr("'general.architecture' is missing"));
  EXPECT_THAT(message(small_model("mamba")), AllOf(HasSubstr("'mamba' is not supported"),
                                                   HasSubstr("llama, qwen2, qwen3, gemma3")));
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  EXPECT_THAT(message(writer), HasSubstr("token_embd.weight"));
  writer.add_tensor("token_embd.weight", {4, 2}, 0, std::string(32, '\0'));
  EXPECT_THAT(message(writer), HasSubstr("'llama.block_count' is missing"));
}

TEST(ConfigOfJson, DefaultsOfEachArchitecture) {
  const ModelConfig llama = of_json(json_of("llama"));
  EXPECT_EQ(llama.head_dim, 160);
  EXPECT_EQ(llama.rope_theta, 10000);
  EXPECT_EQ(llama.rope_pairing, RopePairing::half);
  EXPECT_FALSE(llama.is_tied || llama.has_qkv_bias);
  EXPECT_THAT(llama.eos, IsEmpty());
  EXPECT_EQ(llama.bos, -1);
  const ModelConfig qwen2 = of_json(json_of("qwen2"));
  EXPECT_TRUE(qwen2.has_qkv_bias);
  EXPECT_FALSE(qwen2.has_output_bias || qwen2.has_qk_norm);
  const ModelConfig qwen3 = of_json(json_of("qwen3"));
  EXPECT_EQ(qwen3.head_dim, 128);
  EXPECT_TRUE(qwen3.has_qk_norm);
  const ModelConfig gemma = of_json(json_of("gemma3_text"));
  EXPECT_EQ(gemma.head_dim, 256);
  EXPECT_EQ(gemma.norm_weight_offset, 1);
  EXPECT_DOUBLE_EQ(gemma.embedding_scale, std::sqrt(640));
  EXPECT_EQ(gemma.activation, Activation::gelu_tanh);
  EXPECT_EQ(gemma.rope_theta, 1e6);
  EXPECT_EQ(gemma.rope_local_theta, 1e4);
  EXPECT_EQ(gemma.sliding_window, 4096);
  EXPECT_EQ(gemma.attention_scale, 1.0 / 16);
  EXPECT_TRUE(gemma.is_tied);
}

// Llama 3.1 8B, Qwen2.5 with YaRN, Gemma 3 4B and the form of version 5 of transformers.
TEST(ConfigOfJson, RopeScaling) {
  const ModelConfig llama = of_json(json_of("llama", R"("rope_theta":500000.0,
    "eos_token_id":[1,8,9],"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,
    "high_freq_factor":4.0,"original_max_position_embeddings":8192,"rope_type":"llama3"})"));
  EXPECT_EQ(llama.rope_scaling.kind, RopeScalingKind::llama3);
  EXPECT_EQ(llama.rope_scaling.factor, 8);
  EXPECT_EQ(llama.rope_scaling.original_context, 8192);
  EXPECT_THAT(llama.eos, ElementsAre(1, 8, 9));
  const ModelConfig qwen = of_json(json_of("qwen2", R"("rope_scaling":{"type":"yarn","factor":4,
    "original_max_position_embeddings":32768,"attention_factor":1.25,"truncate":false})"));
  EXPECT_EQ(qwen.rope_scaling.kind, RopeScalingKind::yarn);
  EXPECT_EQ(qwen.rope_scaling.attention_factor, 1.25);
  EXPECT_FALSE(qwen.rope_scaling.truncate);
  const ModelConfig gemma = of_json(json_of("gemma3_text", R"("rope_parameters":{
    "full_attention":{"rope_type":"linear","factor":8.0,"rope_theta":2e6},
    "sliding_attention":{"rope_type":"default","rope_theta":2e4}})"));
  EXPECT_EQ(gemma.rope_scaling.kind, RopeScalingKind::linear);
  EXPECT_EQ(gemma.rope_theta, 2e6);
  EXPECT_EQ(gemma.rope_local_theta, 2e4);
  EXPECT_THAT(refusal([] {
                return of_json(json_of("llama", R"("rope_scaling":{"type":"dynamic","factor":2})"));
              }),
              HasSubstr("'dynamic' is not supported"));
}

TEST(ConfigOfJson, Windows) {
  const ModelConfig gemma = of_json(json_of("gemma3_text", R"("sliding_window":512)"));
  EXPECT_EQ(gemma.sliding_window, 512);
  EXPECT_EQ(std::ranges::count(gemma.is_sliding, true), 10);
  EXPECT_FALSE(gemma.is_sliding[5]);
  const ModelConfig listed = of_json(json_of("gemma3_text", R"("layer_types":["full_attention",
    "sliding_attention","full_attention","full_attention","full_attention","full_attention",
    "full_attention","full_attention","full_attention","full_attention","full_attention",
    "full_attention"])"));
  EXPECT_EQ(std::ranges::count(listed.is_sliding, true), 1);
  const ModelConfig qwen = of_json(
      json_of("qwen2", R"("use_sliding_window":true,"sliding_window":128,"max_window_layers":9)"));
  EXPECT_EQ(std::ranges::count(qwen.is_sliding, true), 3);
  EXPECT_EQ(of_json(json_of("qwen2", R"("sliding_window":128)")).sliding_window, 0);
}

TEST(ConfigOfJson, RefusesByKey) {
  const auto message = [](const std::string& more) {
    return refusal([&] { return of_json(json_of("llama", more)); });
  };
  EXPECT_THAT(message(R"("rms_norm_eps":"x")"),
              HasSubstr("'rms_norm_eps' is \"x\", expected a number"));
  EXPECT_THAT(message(R"("head_dim":1.5)"),
              HasSubstr("'head_dim' is 1.5, expected a whole number"));
  EXPECT_THAT(message(R"("head_dim":18446744073709551615)"), HasSubstr("a whole number"));
  EXPECT_THAT(message(R"("head_dim":0)"), HasSubstr("head_dim is 0, expected 1"));
  EXPECT_THAT(message(R"("head_dim":7)"), HasSubstr("rope_dim is 7, expected an even number"));
  EXPECT_THAT(message(R"("tie_word_embeddings":1)"), HasSubstr("expected true or false"));
  EXPECT_THAT(message(R"("eos_token_id":1000)"), HasSubstr("end token 1000 is not one of 1000"));
  EXPECT_THAT(message(R"("eos_token_id":[1,"a"])"), HasSubstr("'eos_token_id' is \"a\""));
  EXPECT_THAT(message(R"("hidden_act":"relu")"), HasSubstr("'relu' is not supported"));
  EXPECT_THAT(message(R"("vocab_size":3)"), HasSubstr("'vocab_size' stands twice"));
  EXPECT_THAT(message(R"("rope_theta":-1)"), HasSubstr("rope_theta is -1"));
  EXPECT_THAT(refusal([] { return of_json("{}"); }), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(refusal([] { return of_json("[1]"); }), HasSubstr("expected an object"));
  EXPECT_THAT(refusal([] { return of_json(std::string(1000, '[')); }), HasSubstr("deeper than 32"));
  EXPECT_THAT(refusal([] { return of_json(json_of("mamba")); }), HasSubstr("llama, qwen2"));
  EXPECT_THAT(refusal([] { return of_json(json_of("gemma3")); }), HasSubstr("gemma3_text"));
  EXPECT_THAT(refusal([] { return of_json("{\"model_type\":\"llama\"}"); }),
              HasSubstr("'vocab_size' is missing"));
}

}  // namespace
}  // namespace rooftile
