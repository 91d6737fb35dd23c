// SPDX-License-Identifier: Apache-2.0
// GGUF Q2_K: 256 elements of 2 bits in sub-blocks of 16, each with a 4-bit scale and a 4-bit
// minimum. As the reference decoder of ggml (and `gguf.quants` of Python) decodes them, bit for
// bit.
//
//   q2_k    | scales[16] | q[64] | d | dmin |      84 bytes
//   value = (d * scale) * code - dmin * min
//
//   d, dmin   binary16, little-endian
//   scales    byte j = | min of sub-block j | scale of sub-block j |        4 bits each
//   q         byte 32 h + j = | element 128 h + 96 + j | .. + 64 + j | .. + 32 + j | 128 h + j |
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"

namespace ROOFTILE_API rooftile {

struct q2_k {
  static constexpr int kElements = 256;
  uint8_t scales[16];
  uint8_t q[64];
  fp16 d;
  fp16 dmin;

  /// Element i, 0 to 255.
  ROOFTILE_HD constexpr float value(int i) const {
    const uint8_t packed = scales[i / 16];
    const float scale = static_cast<float>(d) * static_cast<float>(packed & 15);
    const float min = static_cast<float>(dmin) * static_cast<float>(packed >> 4);
    return scale * static_cast<float>(q[byte_of(i)] >> shift_of(i) & 3) - min;
  }
  /// Of 256 values: from the least and greatest of each sub-block, see gguf_fit.h.
  static q2_k quantise(const float* values);

  /// Where the two low bits of element i stand; in Q3_K too.
  ROOFTILE_HD static constexpr int byte_of(int i) { return i / 128 * 32 + i % 32; }
  ROOFTILE_HD static constexpr int shift_of(int i) { return i % 128 / 32 * 2; }
};
static_assert(sizeof(q2_k) == 84);

}  // namespace rooftile
