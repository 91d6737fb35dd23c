// SPDX-License-Identifier: Apache-2.0
// What attention/cpu_simd computes on: pointers and strides, and how the work is cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/ops/attention/visible.h"

namespace rooftile::ops::attention {

/// A [keys, kv_heads, head_dim] in pages; elements of a head are adjacent. Strides in elements.
struct CacheView {
  const void* data = nullptr;
  std::int64_t page_stride = 0;
  std::int64_t key_stride = 0;
  std::int64_t head_stride = 0;
};

/// Rows [tokens, heads, head_dim]; elements of a head are adjacent.
struct RowsView {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};

/// A table of i32, or slopes.
template <class T>
struct Table {
  const T* data = nullptr;
  std::int64_t stride0 = 0;
  std::int64_t stride1 = 0;
  [[nodiscard]] std::int64_t at(std::int64_t i, std::int64_t j = 0) const {
    return data[i * stride0 + j * stride1];
  }
};

/// What is added to scores: [tokens, heads, keys]. Strides in elements; that of heads is 0 where
/// all share one.
struct BiasView {
  const float* data = nullptr;  // null: none
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t key_stride = 0;
  std::int64_t keys = 0;
};

struct AttentionCall {
  RowsView out{};
  RowsView lse{};  // no data: not asked for; head_dim is 1
  RowsView q{};
  CacheView k{};
  CacheView v{};
  DType cache_dtype = DType::f32;
  Table<std::int32_t> starts{};
  Table<std::int32_t> lengths{};
  Table<std::int32_t> pages_of{};
  const float* slopes = nullptr;
  std::int64_t slope_stride = 0;
  BiasView bias{};
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 1;
  std::int64_t dim = 1;
  std::int64_t pages = 0;
  std::int64_t page_size = 1;
  std::int64_t max_pages = 0;
  std::int64_t window = 0;
  Mask mask = Mask::causal_bottom_right;
  float scale = 1;
  float softcap = 0;

  [[nodiscard]] std::int64_t group() const { return heads / kv_heads; }
  [[nodiscard]] std::int64_t padded_dim() const { return (dim + 15) / 16 * 16; }
  /// Keys whose scores are kept at once. Partial results are made chunk by chunk, whichever task
  /// makes them, so the bits depend on this and on nothing else of the schedule.
  [[nodiscard]] std::int64_t chunk() const { return dim <= 128 ? 256 : 128; }
  /// Query rows (tokens x group) of a task: enough that packing K and V costs little.
  [[nodiscard]] std::int64_t most_rows() const {
    return std::max<std::int64_t>(dim <= 64 ? 192 : 96, group());
  }
  /// Sequences with at most so many tokens are split among tasks by chunks of keys.
  [[nodiscard]] std::int64_t most_split_tokens() const {
    return std::max<std::int64_t>(48 / group(), 1);
  }
  [[nodiscard]] std::int64_t capacity() const { return max_pages * page_size; }
  [[nodiscard]] std::int64_t most_chunks() const {
    const std::int64_t all = (capacity() + chunk() - 1) / chunk();
    return window > 0 ? std::min(all, (window + most_split_tokens()) / chunk() + 2) : all;
  }

  [[nodiscard]] std::int64_t tokens_of(std::int64_t sequence) const {
    return starts.at(sequence + 1) - starts.at(sequence);
  }
  [[nodiscard]] bool has_valid_length(std::int64_t sequence) const {
    return lengths.at(sequence) >= 0 && lengths.at(sequence) <= capacity();
  }
  [[nodiscard]] std::int64_t position(std::int64_t sequence, std::int64_t token) const {
    return position_of(mask, token, tokens_of(sequence), lengths.at(sequence));
  }
  [[nodiscard]] KeyRange keys(std::int64_t sequence, std::int64_t token) const {
    return visible_keys(mask, window, position(sequence, token), lengths.at(sequence));
  }
  /// All keys that tokens [first, end) see.
  [[nodiscard]] KeyRange keys(std::int64_t sequence, std::int64_t first, std::int64_t end) const {
    return {keys(sequence, first).begin, keys(sequence, end - 1).end};
  }
};

}  // namespace rooftile::ops::attention
