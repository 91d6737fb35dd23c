// SPDX-License-Identifier: Apache-2.0
// Attention of queries over a paged KV cache; one call for prefill, chunked prefill and decode:
//   out[t,h] = sum_j softmax_j(score[t,h,j]) * v[j],
//   score[t,h,j] = softcap(scale * q[t,h].k[j]) + slope[h]*(j - position) + bias[t,h,j]
// over the keys j of the query's sequence that the mask lets it see, where key j of sequence s
// stands in page page_table[s, j / page_size] at offset j % page_size, and query head h reads kv
// head h / (heads / kv_heads). Vaswani et al. 2017; Kwon et al. (PagedAttention) 2023.
#pragma once

#include <cstdint>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// A KV cache and where the keys of each sequence lie in it.
struct PagedKv {
  TensorView k{};           // [pages, page_size, kv_heads, head_dim], any strides
  TensorView v{};           // the same
  TensorView page_table{};  // [sequences, max_pages] i32
  TensorView lengths{};     // [sequences] i32: keys of each, those of its queries included
};

struct AttentionOptions {
  double scale = 0;                               // of scores; 0: 1 / sqrt(head_dim)
  std::string_view mask = "causal_bottom_right";  // or causal_top_left, none
  std::int64_t window = 0;  // a query sees its last `window` keys, its own included; 0: all
  double softcap = 0;       // cap * tanh(score / cap), before slopes, bias and mask; 0: none
  TensorView slopes{};      // [heads] f32, absent for none (ALiBi)
  /// [tokens, 1 or heads, keys] f32, absent for none: added to the scaled and capped score, before
  /// the mask, as the float attn_mask of PyTorch's scaled_dot_product_attention is (and a score_mod
  /// of FlexAttention may). Row t belongs to row t of q, key j to position j of that row's
  /// sequence; `keys` is at least the longest length that a row sees. Any strides: a tensor
  /// [heads, queries, keys] is a view with its first two axes exchanged, one that is the same for
  /// all queries has stride 0 there. -inf gives a key the weight 0, though unlike with the mask its
  /// key and value are read, so a NaN there may show.
  TensorView bias{};
  TensorView lse{};  // [tokens, heads] f32, absent for none: log of the sum of exp(score)
};

/// out, q: [tokens, heads, head_dim], f32, bf16 or fp16. q_starts: [sequences + 1] i32: sequence s
/// has the rows [q_starts[s], q_starts[s + 1]).
///
/// A row that sees no key, or only keys whose bias is -inf, or belongs to no sequence, is
/// (0, lse -inf). What stands in the tables
/// is checked where it is used and never leads outside the tensors: rows that see a key of a page
/// id out of range or a key beyond the bias are NaN; so are those of a sequence whose length is out
/// of range, and all rows when q_starts is not sorted within [0, tokens]. Table entries beyond a
/// length are not read. Throws Error(bad_input) for shapes or options that do not agree.
void attention(Stream& stream, const TensorView& out, const TensorView& q, const PagedKv& kv,
               const TensorView& q_starts, const AttentionOptions& options = {});

}  // namespace rooftile
