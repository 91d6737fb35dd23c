// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/decode_row.h"

#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/gguf_blocks.h"

#define ROOFTILE_SIMD_FILE "rooftile/device/cpu/decode_row_simd.h"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile {

void decode_row(DType dtype, const void* row, std::int64_t first, std::int64_t n, float* values) {
  static const auto decode = ROOFTILE_SIMD_CHOOSE(decode_row);
  decode(dtype, row, first, n, values);
}

}  // namespace rooftile
