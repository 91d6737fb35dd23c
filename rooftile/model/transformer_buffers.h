// SPDX-License-Identifier: Apache-2.0
// The memory between the operations of a pass: activations in f32, and the integers that say which
// tokens, positions and pages a pass is about. Sized once for the largest pass; what attention and
// the feed-forward keep is never needed at once, so that they share their memory.
#pragma once

#include "rooftile/device/device.h"
#include "rooftile/model/transformer.h"

namespace rooftile {

/// Host-readable integers of a pass, i32.
struct PassIntegers {
  std::int32_t* ids;         // [tokens]
  std::int32_t* positions;   // [tokens]
  std::int32_t* slots;       // [tokens]
  std::int32_t* starts;      // [sequences + 1]
  std::int32_t* lengths;     // [sequences]
  std::int32_t* page_table;  // [sequences, max_pages]
  std::int32_t* rows;        // [tokens]: of which logits are wanted
  std::int64_t max_pages;
};

struct PassBuffers {
  PassBuffers(Device& device, const ModelConfig& config, const TransformerOptions& options,
              const KvCache& cache);

  /// [rows, cols] f32 at the front of a buffer.
  static TensorView rows_of(const float* buffer, std::int64_t rows, std::int64_t cols) {
    return TensorView::contiguous(buffer, DType::f32, {rows, cols});
  }
  [[nodiscard]] TensorView logits(std::int64_t rows) const {
    return rows_of(static_cast<const float*>(logits_memory.data()), rows, vocab);
  }

  std::int64_t vocab;
  DeviceMemory hidden_memory;
  float* x;       // [tokens, hidden]: the residual stream
  float* normed;  // [tokens, hidden]: what a block reads, then what it adds, before its norm
  DeviceMemory block_memory;
  float *q, *k, *v, *attended;  // of attention
  float *gate, *up;             // of the feed-forward, in the same memory
  DeviceMemory logits_memory;
  DeviceMemory integer_memory;
  PassIntegers integers;
};

}  // namespace rooftile
