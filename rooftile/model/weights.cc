// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/weights.h"

#include <string_view>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

// A weight of a layer: where it goes, what it is called, its shape.
struct LayerEntry {
  TensorView LayerWeights::* member;
  std::string_view gguf;
  std::string_view hugging_face;
  Dims shape;
  bool is_wanted;
};

std::vector<LayerEntry> layer_entries(const ModelConfig& c) {
  using L = LayerWeights;
  const bool is_gemma = c.has_post_norms;
  const std::int64_t q = c.heads * c.head_dim;
  const std::int64_t kv = c.kv_heads * c.head_dim;
  return {
      {&L::attn_norm, "attn_norm.weight", "input_layernorm.weight", {c.hidden}, true},
      {&L::q, "attn_q.weight", "self_attn.q_proj.weight", {q, c.hidden}, true},
      {&L::k, "attn_k.weight", "self_attn.k_proj.weight", {kv, c.hidden}, true},
      {&L::v, "attn_v.weight", "self_attn.v_proj.weight", {kv, c.hidden}, true},
      {&L::q_bias, "attn_q.bias", "self_attn.q_proj.bias", {q}, c.has_qkv_bias},
      {&L::k_bias, "attn_k.bias", "self_attn.k_proj.bias", {kv}, c.has_qkv_bias},
      {&L::v_bias, "attn_v.bias", "self_attn.v_proj.bias", {kv}, c.has_qkv_bias},
      {&L::q_norm, "attn_q_norm.weight", "self_attn.q_norm.weight", {c.head_dim}, c.has_qk_norm},
      {&L::k_norm, "attn_k_norm.weight", "self_attn.k_norm.weight", {c.head_dim}, c.has_qk_norm},
      {&L::o, "attn_output.weight", "self_attn.o_proj.weight", {c.hidden, q}, true},
      {&L::o_bias, "attn_output.bias", "self_attn.o_proj.bias", {c.hidden}, c.has_output_bias},
      {&L::post_attn_norm,
       "post_attention_norm.weight",
       "post_attention_layernorm.weight",
       {c.hidden},
       is_gemma},
      {&L::ffn_norm,
       "ffn_norm.weight",
       is_gemma ? "pre_feedforward_layernorm.weight" : "post_attention_layernorm.weight",
       {c.hidden},
       true},
      {&L::gate, "ffn_gate.weight", "mlp.gate_proj.weight", {c.ffn, c.hidden}, true},
      {&L::up, "ffn_up.weight", "mlp.up_proj.weight", {c.ffn, c.hidden}, true},
      {&L::down, "ffn_down.weight", "mlp.down_proj.weight", {c.hidden, c.ffn}, true},
      {&L::gate_bias, "ffn_gate.bias", "mlp.gate_proj.bias", {c.ffn}, c.has_ffn_bias},
      {&L::up_bias, "ffn_up.bias", "mlp.up_proj.bias", {c.ffn}, c.has_ffn_bias},
      {&L::down_bias, "ffn_down.bias", "mlp.down_proj.bias", {c.hidden}, c.has_ffn_bias},
      {&L::post_ffn_norm,
       "post_ffw_norm.weight",
       "post_feedforward_layernorm.weight",
       {c.hidden},
       is_gemma},
  };
}

std::string extents(const Dims& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

class Finder {
 public:
  Finder(const TensorSource& source, WeightNames names) : source_(source), names_(names) {}

  TensorView find(std::string_view gguf, std::string_view hugging_face, const Dims& shape,
                  std::string_view prefix = "") const {
    const std::string name =
        std::string(prefix) + std::string(names_ == WeightNames::gguf ? gguf : hugging_face);
    const std::optional<TensorView> found = source_(name, shape);
    if (!found) fail_input("the model has no tensor '" + name + "', which its architecture needs");
    if (found->shape != shape)
      fail_input("tensor '" + name + "' is " + extents(found->shape) +
                 "; the model's settings ask for " + extents(shape));
    return *found;
  }

  [[nodiscard]] std::string layer_prefix(std::int64_t layer) const {
    return (names_ == WeightNames::gguf ? "blk." : "model.layers.") + std::to_string(layer) + ".";
  }

 private:
  const TensorSource& source_;
  WeightNames names_;
};

double bytes(const TensorView& view) {
  return static_cast<double>(bytes_of(view.dtype, num_elements(view.shape)));
}

bool is_tied(const Weights& weights) { return weights.output.data == weights.embedding.data; }

}  // namespace

Weights find_weights(const ModelConfig& config, const TensorSource& source, WeightNames names) {
  const Finder finder(source, names);
  const Dims table{config.vocab, config.hidden};
  Weights weights;
  weights.embedding = finder.find("token_embd.weight", "model.embed_tokens.weight", table);
  weights.output_norm = finder.find("output_norm.weight", "model.norm.weight", {config.hidden});
  weights.output =
      config.is_tied ? weights.embedding : finder.find("output.weight", "lm_head.weight", table);
  if (config.rope_scaling.kind == RopeScalingKind::table)
    weights.rope_factors = finder.find("rope_freqs.weight", "", {config.rope_dim / 2});
  const std::vector<LayerEntry> entries = layer_entries(config);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    LayerWeights& layer = weights.layers.emplace_back();
    for (const LayerEntry& entry : entries)
      if (entry.is_wanted)
        layer.*entry.member =
            finder.find(entry.gguf, entry.hugging_face, entry.shape, finder.layer_prefix(i));
  }
  return weights;
}

void for_each_weight(Weights& weights, FunctionRef<void(TensorView&)> visit) {
  const bool has_own_output = !is_tied(weights);
  visit(weights.embedding);
  for (LayerWeights& l : weights.layers)
    for (TensorView* view : {&l.attn_norm, &l.q,       &l.k,         &l.v,
                             &l.q_bias,    &l.k_bias,  &l.v_bias,    &l.q_norm,
                             &l.k_norm,    &l.o,       &l.o_bias,    &l.post_attn_norm,
                             &l.ffn_norm,  &l.gate,    &l.up,        &l.down,
                             &l.gate_bias, &l.up_bias, &l.down_bias, &l.post_ffn_norm})
      if (view->is_present()) visit(*view);
  visit(weights.output_norm);
  if (has_own_output)
    visit(weights.output);
  else
    weights.output = weights.embedding;
}

void for_each_weight(const Weights& weights, FunctionRef<void(const TensorView&)> visit) {
  Weights views = weights;
  for_each_weight(views, [&](TensorView& view) { visit(view); });
}

double stored_bytes(const Weights& weights) {
  double total = 0;
  for_each_weight(weights, [&](const TensorView& view) { total += bytes(view); });
  return total;
}

// All but the embedding, of which a token reads one row, unless it is the output matrix as well.
double bytes_per_decode(const Weights& weights) {
  return stored_bytes(weights) - (is_tied(weights) ? 0 : bytes(weights.embedding));
}

double num_parameters(const Weights& weights) {
  double total = 0;
  for_each_weight(weights, [&](const TensorView& view) {
    total += static_cast<double>(num_elements(view.shape));
  });
  return total;
}

}  // namespace rooftile
