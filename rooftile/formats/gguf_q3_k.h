// SPDX-License-Identifier: Apache-2.0
// GGUF Q3_K: 256 elements of 3 bits in sub-blocks of 16, each with a 6-bit scale. As the reference
// decoder of ggml (and `gguf.quants` of Python) decodes them, bit for bit.
//
//   q3_k    | high[32] | q[64] | scales[12] | d |      110 bytes
//   value = (d * (scale - 32)) * (code - 4)
//
//   d        binary16, little-endian
//   high     bit b of byte j = bit 2 of the code of element 32 b + j
//   q        bits 0-1 of the codes, placed as in Q2_K
//   scales   bits 0-3 of scale j: j < 8 the low half of byte j, else the high half of byte j - 8
//            bits 4-5 of scale j: bits 2 (j / 4) and above of byte 8 + j % 4
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/gguf_q2_k.h"

namespace ROOFTILE_API rooftile {

struct q3_k {
  static constexpr int kElements = 256;
  uint8_t high[32];
  uint8_t q[64];
  uint8_t scales[12];
  fp16 d;

  /// The scale of sub-block j, -32 to 31.
  ROOFTILE_HD constexpr int scale(int j) const {
    const int low = scales[j % 8] >> (j / 8 * 4) & 15;
    return (low | (scales[8 + j % 4] >> (j / 4 * 2) & 3) << 4) - 32;
  }
  /// Element i, 0 to 255.
  ROOFTILE_HD constexpr float value(int i) const {
    const int low = q[q2_k::byte_of(i)] >> q2_k::shift_of(i) & 3;
    const int code = low | (high[i % 32] >> (i / 32) & 1) << 2;
    const float scaled = static_cast<float>(d) * static_cast<float>(scale(i / 16));
    return scaled * static_cast<float>(code - 4);
  }
  /// Of 256 values: from the greatest magnitude of each sub-block, see gguf_fit.h.
  static q3_k quantise(const float* values);
};
static_assert(sizeof(q3_k) == 110);

}  // namespace rooftile
