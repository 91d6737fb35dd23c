// SPDX-License-Identifier: Apache-2.0
// GGUF blocks to f32 with vector instructions: what embeddings read and what multiplications pack.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"

namespace ROOFTILE_API rooftile {

/// Elements first .. first + n - 1 of the blocks at `row`, with the bits that dequantise_blocks
/// gives (a zero may have the other sign). `first` and `n` are multiples of 32. Reads no byte but
/// those of the blocks that hold these elements. Throws Error(internal) where `dtype` is no block
/// type.
void decode_row(DType dtype, const void* row, std::int64_t first, std::int64_t n, float* values);

}  // namespace rooftile
