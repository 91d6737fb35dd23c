// SPDX-License-Identifier: Apache-2.0
// For tests: a transformer of ModelConfig's families in double, from the papers' formulas and with
// nothing of the library's operations. One sequence, no cache, all positions at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rooftile/formats/element.h"
#include "rooftile/model/config.h"
#include "rooftile/model/weights.h"

namespace rooftile {

class ReferenceTransformer {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  ReferenceTransformer(const ModelConfig& config, const Weights& weights)
      : c_(config), w_(weights) {}

  /// The logits of every token.
  [[nodiscard]] Rows logits(const std::vector<std::int32_t>& tokens) const {
    Rows x;
    for (const std::int32_t token : tokens) {
      x.push_back(row_of(w_.embedding, token));
      for (double& value : x.back()) value *= c_.embedding_scale;
    }
    for (std::int64_t i = 0; i < c_.layers; ++i) layer(x, i);
    Rows out;
    for (Row& row : x) out.push_back(product(w_.output, norm(row, w_.output_norm)));
    return out;
  }

 private:
  static Row row_of(const TensorView& view, std::int64_t row) {
    const std::int64_t cols = view.shape.rank() == 1 ? view.extent(0) : view.extent(1);
    Row values(static_cast<std::size_t>(cols));
    for (std::int64_t i = 0; i < cols; ++i)
      values[static_cast<std::size_t>(i)] = load_element(view.dtype, view.data, row * cols + i);
    return values;
  }

  static Row product(const TensorView& w, const Row& x, const TensorView& bias = {}) {
    Row y(static_cast<std::size_t>(w.extent(0)));
    const Row b = bias.is_present() ? row_of(bias, 0) : Row(y.size());
    for (std::size_t r = 0; r < y.size(); ++r) {
      const Row row = row_of(w, static_cast<std::int64_t>(r));
      y[r] = b[r];
      for (std::size_t i = 0; i < x.size(); ++i) y[r] += row[i] * x[i];
    }
    return y;
  }

  [[nodiscard]] Row norm(Row x, const TensorView& w) const {
    const Row weight = row_of(w, 0);
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + c_.rms_eps);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= scale * (weight[i] + c_.norm_weight_offset);
    return x;
  }

  // Each head of `x` normed, where the model does that.
  [[nodiscard]] Row head_norm(const Row& x, const TensorView& w) const {
    if (!w.is_present()) return x;
    Row y;
    for (auto head = x.begin(); head != x.end(); head += c_.head_dim) {
      const Row normed = norm({head, head + c_.head_dim}, w);
      y.insert(y.end(), normed.begin(), normed.end());
    }
    return y;
  }

  void rotate(Row& x, std::int64_t position, double theta) const {
    const std::int64_t pairs = c_.rope_dim / 2;
    for (std::size_t head = 0; head < x.size(); head += static_cast<std::size_t>(c_.head_dim))
      for (std::int64_t i = 0; i < pairs; ++i) {
        const double angle =
            static_cast<double>(position) *
            std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(c_.rope_dim));
        const bool is_half = c_.rope_pairing == RopePairing::half;
        double& a = x[head + static_cast<std::size_t>(is_half ? i : 2 * i)];
        double& b = x[head + static_cast<std::size_t>(is_half ? i + pairs : 2 * i + 1)];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = b * std::cos(angle) + a * std::sin(angle);
        a = turned;
      }
  }

  void layer(Rows& x, std::int64_t index) const {
    const LayerWeights& w = w_.layers[static_cast<std::size_t>(index)];
    const bool is_sliding = c_.is_sliding[static_cast<std::size_t>(index)];
    const double theta =
        is_sliding && c_.rope_local_theta > 0 ? c_.rope_local_theta : c_.rope_theta;
    Rows q, k, v;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Row h = norm(x[t], w.attn_norm);
      q.push_back(head_norm(product(w.q, h, w.q_bias), w.q_norm));
      k.push_back(head_norm(product(w.k, h, w.k_bias), w.k_norm));
      v.push_back(product(w.v, h, w.v_bias));
      rotate(q.back(), static_cast<std::int64_t>(t), theta);
      rotate(k.back(), static_cast<std::int64_t>(t), theta);
    }
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Row mixed = attend(q[t], k, v, t, is_sliding ? c_.sliding_window : 0);
      add(x[t], product(w.o, mixed, w.o_bias), w.post_attn_norm);
    }
    for (Row& row : x) {
      const Row h = norm(row, w.ffn_norm);
      Row gate = product(w.gate, h, w.gate_bias);
      const Row up = product(w.up, h, w.up_bias);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = act(gate[i]) * up[i];
      add(row, product(w.down, gate, w.down_bias), w.post_ffn_norm);
    }
  }

  void add(Row& x, Row y, const TensorView& post_norm) const {
    if (post_norm.is_present()) y = norm(std::move(y), post_norm);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  [[nodiscard]] Row attend(const Row& q, const Rows& k, const Rows& v, std::size_t at,
                           std::int64_t window) const {
    const auto dim = static_cast<std::size_t>(c_.head_dim);
    const auto group = static_cast<std::size_t>(c_.heads / c_.kv_heads);
    const std::size_t first = window > 0 && at + 1 > static_cast<std::size_t>(window)
                                  ? at + 1 - static_cast<std::size_t>(window)
                                  : 0;
    Row out(q.size());
    for (std::size_t head = 0; head < static_cast<std::size_t>(c_.heads); ++head) {
      const std::size_t kv = head / group * dim;
      Row p;
      for (std::size_t j = first; j <= at; ++j) {
        double score = 0;
        for (std::size_t i = 0; i < dim; ++i) score += q[head * dim + i] * k[j][kv + i];
        p.push_back(score * c_.attention_scale);
      }
      const double most = *std::ranges::max_element(p);
      double sum = 0;
      for (double& value : p) sum += value = std::exp(value - most);
      for (std::size_t j = first; j <= at; ++j)
        for (std::size_t i = 0; i < dim; ++i)
          out[head * dim + i] += p[j - first] / sum * v[j][kv + i];
    }
    return out;
  }

  [[nodiscard]] double act(double x) const {
    if (c_.activation == Activation::silu) return x / (1 + std::exp(-x));
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }

  const ModelConfig& c_;
  const Weights& w_;
};

}  // namespace rooftile
