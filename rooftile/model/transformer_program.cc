// SPDX-License-Identifier: Apache-2.0
// The families that this covers differ in a few places: where norms stand, biases, norms of queries
// and keys, windows, the rotary base. Each is a field of ModelConfig; none is asked for its name.
#include "rooftile/model/transformer_program.h"

#include "rooftile/base/text.h"
#include "rooftile/model/rope_options.h"

namespace rooftile {
namespace {

std::string act_name(Activation activation) {
  switch (activation) {
    case Activation::silu:
      return "silu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
  }
  return "none";
}

// What the steps of one program share.
class Builder {
 public:
  Builder(const PassSetting& setting, PlanStore& plans)
      : s_(setting), c_(setting.config), b_(setting.buffers), in_(b_.integers), program_(plans) {}

  Program build() {
    program_.add({"embedding"}, "embedding",
                 {{"y", x()}, {"table", s_.weights.embedding}, {"ids", ints(in_.ids, s_.tokens)}},
                 OptionList{{"scale", shortest(c_.embedding_scale)}});
    for (std::int64_t i = 0; i < c_.layers; ++i) {
      layer_ = i;
      attention(s_.weights.layers[static_cast<std::size_t>(i)]);
      feed_forward(s_.weights.layers[static_cast<std::size_t>(i)]);
    }
    layer_ = -1;
    if (s_.rows > 0) logits();
    return std::move(program_);
  }

 private:
  using OptionList = std::vector<OptionValue>;

  // Views.
  [[nodiscard]] TensorView rows(const float* buffer, std::int64_t cols) const {
    return PassBuffers::rows_of(buffer, s_.tokens, cols);
  }
  [[nodiscard]] TensorView x() const { return rows(b_.x, c_.hidden); }
  [[nodiscard]] TensorView heads(const float* buffer, std::int64_t count) const {
    return TensorView::contiguous(buffer, DType::f32, {s_.tokens, count, c_.head_dim});
  }
  [[nodiscard]] static TensorView ints(const std::int32_t* data, std::int64_t count) {
    return TensorView::contiguous(data, DType::i32, {count});
  }

  // Steps.
  [[nodiscard]] StepRole role(std::string name) const {
    return {std::move(name), static_cast<int>(layer_)};
  }
  void norm(std::string name, const TensorView& y, const TensorView& input, const TensorView& w) {
    program_.add(role(std::move(name)), "rmsnorm", {{"y", y}, {"x", input}, {"w", w}},
                 OptionList{{"eps", shortest(c_.rms_eps)},
                            {"weight_offset", shortest(c_.norm_weight_offset)}});
  }
  void matmul(std::string name, const TensorView& d, const TensorView& a, const TensorView& w,
              const TensorView& bias = {}, const TensorView& residual = {}) {
    // Only quantised weights let activations be quantised too.
    const bool is_packed = info(w.dtype).unit_elements > 1;
    program_.add(role(std::move(name)), "gemm",
                 {{"d", d}, {"a", a}, {"b", transposed(w)}, {"bias", bias}, {"residual", residual}},
                 OptionList{{"activations", is_packed ? s_.activations : "exact"}});
  }
  void rotate(std::string name, const float* buffer, std::int64_t count) {
    const TensorView view = heads(buffer, count);
    program_.add(role(std::move(name)), "rope",
                 {{"y", view},
                  {"x", view},
                  {"positions", ints(in_.positions, s_.tokens)},
                  {"freq_factors", s_.weights.rope_factors}},
                 rope_options(c_, layer_));
  }
  void head_norm(std::string name, const float* buffer, std::int64_t count, const TensorView& w) {
    const TensorView view = PassBuffers::rows_of(buffer, s_.tokens * count, c_.head_dim);
    norm(std::move(name), view, view, w);
  }

  void attention(const LayerWeights& w) {
    const std::int64_t q_cols = c_.heads * c_.head_dim;
    const std::int64_t kv_cols = c_.kv_heads * c_.head_dim;
    const TensorView normed = rows(b_.normed, c_.hidden);
    norm("attn_norm", normed, x(), w.attn_norm);
    matmul("q_proj", rows(b_.q, q_cols), normed, w.q, w.q_bias);
    matmul("k_proj", rows(b_.k, kv_cols), normed, w.k, w.k_bias);
    matmul("v_proj", rows(b_.v, kv_cols), normed, w.v, w.v_bias);
    if (w.q_norm.is_present()) {
      head_norm("q_norm", b_.q, c_.heads, w.q_norm);
      head_norm("k_norm", b_.k, c_.kv_heads, w.k_norm);
    }
    rotate("q_rope", b_.q, c_.heads);
    rotate("k_rope", b_.k, c_.kv_heads);
    program_.add(role("kv_append"), "kv_append",
                 {{"k_cache", s_.cache.keys(layer_)},
                  {"v_cache", s_.cache.values(layer_)},
                  {"k", heads(b_.k, c_.kv_heads)},
                  {"v", heads(b_.v, c_.kv_heads)},
                  {"slots", ints(in_.slots, s_.tokens)}});
    attend();
    add_to_residual("o_proj", rows(b_.attended, q_cols), w.o, w.o_bias, w.post_attn_norm,
                    "post_attn_norm");
  }

  [[nodiscard]] std::int64_t window() const {
    return c_.is_sliding[static_cast<std::size_t>(layer_)] ? c_.sliding_window : 0;
  }
  void attend() {
    const TensorView table =
        TensorView::contiguous(in_.page_table, DType::i32, {s_.sequences, in_.max_pages});
    program_.add(role("attention"), "attention",
                 {{"out", heads(b_.attended, c_.heads)},
                  {"q", heads(b_.q, c_.heads)},
                  {"k_cache", s_.cache.keys(layer_)},
                  {"v_cache", s_.cache.values(layer_)},
                  {"q_starts", ints(in_.starts, s_.sequences + 1)},
                  {"kv_lengths", ints(in_.lengths, s_.sequences)},
                  {"page_table", table}},
                 OptionList{{"scale", shortest(c_.attention_scale)},
                            {"window", std::to_string(window())},
                            {"softcap", shortest(c_.attention_softcap)}});
  }

  void feed_forward(const LayerWeights& w) {
    const TensorView normed = rows(b_.normed, c_.hidden);
    const TensorView gate = rows(b_.gate, c_.ffn);
    const TensorView up = rows(b_.up, c_.ffn);
    norm("ffn_norm", normed, x(), w.ffn_norm);
    matmul("ffn_gate", gate, normed, w.gate, w.gate_bias);
    matmul("ffn_up", up, normed, w.up, w.up_bias);
    program_.add(role("ffn_act"), "glu", {{"y", gate}, {"gate", gate}, {"up", up}},
                 OptionList{{"act", act_name(c_.activation)}});
    add_to_residual("ffn_down", gate, w.down, w.down_bias, w.post_ffn_norm, "post_ffn_norm");
  }

  // x = x + a . w, or x + norm(a . w) where the model norms what a block adds.
  void add_to_residual(std::string name, const TensorView& a, const TensorView& w,
                       const TensorView& bias, const TensorView& post_norm, std::string norm_name) {
    if (!post_norm.is_present()) return matmul(std::move(name), x(), a, w, bias, x());
    const TensorView added = rows(b_.normed, c_.hidden);
    matmul(std::move(name), added, a, w, bias);
    norm(std::move(norm_name), added, added, post_norm);
    program_.add(role("residual"), "add", {{"y", x()}, {"a", x()}, {"b", added}});
  }

  void logits() {
    const TensorView picked = PassBuffers::rows_of(b_.normed, s_.rows, c_.hidden);
    program_.add({"last_rows"}, "embedding",
                 {{"y", picked}, {"table", x()}, {"ids", ints(in_.rows, s_.rows)}});
    norm("output_norm", picked, picked, s_.weights.output_norm);
    matmul("logits", b_.logits(s_.rows), picked, s_.weights.output);
  }

  const PassSetting& s_;
  const ModelConfig& c_;
  const PassBuffers& b_;
  const PassIntegers& in_;
  Program program_;
  std::int64_t layer_ = -1;
};

}  // namespace

Program build_program(const PassSetting& setting, PlanStore& plans) {
  return Builder(setting, plans).build();
}

}  // namespace rooftile
