// SPDX-License-Identifier: Apache-2.0
// GGUF Q6_K: 256 elements of 6 bits in sub-blocks of 16, each with an 8-bit scale. As the reference
// decoder of ggml (and `gguf.quants` of Python) decodes them, bit for bit.
//
//   q6_k    | q[128] | high[64] | scales[16] | d |      210 bytes
//   value = (d * scale) * (code - 32)
//
//   d        binary16, little-endian
//   scales   two's complement
//   q        byte 64 h + j = | element 128 h + 64 + j | element 128 h + j |      bits 0-3
//   high     byte 32 h + j = | element 128 h + 96 + j | .. + 64 + j | .. + 32 + j | 128 h + j |
//            bits 4-5
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"

namespace ROOFTILE_API rooftile {

struct q6_k {
  static constexpr int kElements = 256;
  uint8_t q[128];
  uint8_t high[64];
  int8_t scales[16];
  fp16 d;

  /// Element i, 0 to 255.
  ROOFTILE_HD constexpr float value(int i) const {
    const int low = q[low_byte(i)] >> low_shift(i) & 15;
    const int code = low | (high[high_byte(i)] >> high_shift(i) & 3) << 4;
    const float scaled = static_cast<float>(d) * static_cast<float>(scales[i / 16]);
    return scaled * static_cast<float>(code - 32);
  }
  /// Of 256 values: from the greatest magnitude of each sub-block, see gguf_fit.h.
  static q6_k quantise(const float* values);

  ROOFTILE_HD static constexpr int low_byte(int i) { return i / 128 * 64 + i % 64; }
  ROOFTILE_HD static constexpr int low_shift(int i) { return i % 128 / 64 * 4; }
  ROOFTILE_HD static constexpr int high_byte(int i) { return i / 128 * 32 + i % 32; }
  ROOFTILE_HD static constexpr int high_shift(int i) { return i % 128 / 32 * 2; }
};
static_assert(sizeof(q6_k) == 210);

}  // namespace rooftile
