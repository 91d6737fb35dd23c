// SPDX-License-Identifier: Apache-2.0
// GGUF Q5_K: 256 elements of 5 bits in sub-blocks of 32, each with a 6-bit scale and a 6-bit
// minimum. As the reference decoder of ggml (and `gguf.quants` of Python) decodes them, bit for
// bit.
//
//   q5_k    | d | dmin | scales[12] | high[32] | q[128] |      176 bytes
//   value = (d * scale) * code - dmin * min
//
//   d, dmin   binary16, little-endian
//   scales    see gguf_k_scales.h
//   high      bit b of byte j = bit 4 of the code of element 32 b + j
//   q         bits 0-3 of the codes, placed as in Q4_K
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/gguf_q4_k.h"

namespace ROOFTILE_API rooftile {

struct q5_k {
  static constexpr int kElements = 256;
  fp16 d;
  fp16 dmin;
  KScales scales;
  uint8_t high[32];
  uint8_t q[128];

  /// Element i, 0 to 255.
  ROOFTILE_HD constexpr float value(int i) const {
    const float scale = static_cast<float>(d) * static_cast<float>(scales.scale(i / 32));
    const float min = static_cast<float>(dmin) * static_cast<float>(scales.min(i / 32));
    const int low = q[q4_k::byte_of(i)] >> q4_k::shift_of(i) & 15;
    return scale * static_cast<float>(low | (high[i % 32] >> (i / 32) & 1) << 4) - min;
  }
  /// Of 256 values: from the least and greatest of each sub-block, see gguf_fit.h.
  static q5_k quantise(const float* values);
};
static_assert(sizeof(q5_k) == 176);

}  // namespace rooftile
