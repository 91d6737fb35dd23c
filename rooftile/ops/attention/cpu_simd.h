// SPDX-License-Identifier: Apache-2.0
// The memory of attention/cpu_simd: a worker's scratch, and the partial results of split sequences.
#pragma once

#include <cstdint>

#include "rooftile/ops/attention/cpu_call.h"

namespace rooftile::ops::attention {

inline constexpr std::int64_t kSubRows = 24;  // whose scores stay in the first-level cache

/// Hands out pieces of memory, each aligned to a cache line; with no memory, counts only.
class Carver {
 public:
  explicit Carver(void* memory) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(std::int64_t count) {
    T* piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += (count * std::int64_t{sizeof(T)} + 63) / 64 * 64;
    return piece;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  char* memory_;
  std::int64_t bytes_ = 0;
};

/// What one worker needs; rows are (token, head of the group) of its task.
struct Scratch {
  float* q;             // [rows, padded_dim], scaled
  float* out;           // [rows, padded_dim], over the chunks so far
  float* most;          // [rows] the greatest score, and
  float* sum;           // [rows] the sum of exp(score - most)
  float* scores;        // [kSubRows, chunk], then weights
  float* chunk_out;     // [kSubRows, padded_dim] of one chunk
  float* chunk_most;    // [kSubRows]
  float* chunk_sum;     // [kSubRows]
  float* k;             // [chunk / 16, dim, 16]: keys in lanes
  float* v;             // [padded_dim / 16, chunk, 16]: elements in lanes
  const void** k_rows;  // [chunk] where each key stands
  const void** v_rows;  // [chunk]
  void* spare;          // [2, dim] a key of NaNs, then one of zeros, in the cache's dtype
  bool* is_packed;      // [chunk / 16] panels of k

  Scratch(const AttentionCall& call, Carver& from)
      : q(from.take<float>(call.most_rows() * call.padded_dim())),
        out(from.take<float>(call.most_rows() * call.padded_dim())),
        most(from.take<float>(call.most_rows())),
        sum(from.take<float>(call.most_rows())),
        scores(from.take<float>(kSubRows * call.chunk())),
        chunk_out(from.take<float>(kSubRows * call.padded_dim())),
        chunk_most(from.take<float>(kSubRows)),
        chunk_sum(from.take<float>(kSubRows)),
        k(from.take<float>(call.chunk() * call.dim)),
        v(from.take<float>(call.chunk() * call.padded_dim())),
        k_rows(from.take<const void*>(call.chunk())),
        v_rows(from.take<const void*>(call.chunk())),
        spare(from.take<float>(2 * call.dim)),
        is_packed(from.take<bool>(call.chunk() / 16)) {}
};

/// Partial results, each [most, sum, …, out[padded_dim]].
struct Partials {
  static constexpr std::int64_t kHeader = 16;  // floats
  float* data = nullptr;
  std::int64_t stride = 0;
  [[nodiscard]] float* at(std::int64_t index) const { return data + index * stride; }
};

}  // namespace rooftile::ops::attention
