// SPDX-License-Identifier: Apache-2.0
// Rows of a table by number:  y[r,c] = table[ids[r],c] * scale
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

struct EmbeddingOptions {
  double scale = 1;  // Gemma: sqrt(cols), rounded by the caller as the model rounds it
};

/// y: [rows, cols], f32, bf16 or fp16; table: [vocab, cols], as y or in GGUF blocks; ids: [rows]
/// i32. An id outside [0, vocab) never leaves the table: its row becomes NaN. Throws
/// Error(bad_input) for shapes that do not agree.
void embedding(Stream& stream, const TensorView& y, const TensorView& table, const TensorView& ids,
               const EmbeddingOptions& options = {});

}  // namespace rooftile
