// SPDX-License-Identifier: Apache-2.0
// GGUF Q4_K: 256 elements of 4 bits in sub-blocks of 32, each with a 6-bit scale and a 6-bit
// minimum. As the reference decoder of ggml (and `gguf.quants` of Python) decodes them, bit for
// bit.
//
//   q4_k    | d | dmin | scales[12] | q[128] |      144 bytes
//   value = (d * scale) * code - dmin * min
//
//   d, dmin   binary16, little-endian
//   scales    see gguf_k_scales.h
//   q         byte 32 p + j = | element 64 p + 32 + j | element 64 p + j |       4 bits each
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/gguf_k_scales.h"

namespace ROOFTILE_API rooftile {

struct q4_k {
  static constexpr int kElements = 256;
  fp16 d;
  fp16 dmin;
  KScales scales;
  uint8_t q[128];

  /// Element i, 0 to 255.
  ROOFTILE_HD constexpr float value(int i) const {
    const float scale = static_cast<float>(d) * static_cast<float>(scales.scale(i / 32));
    const float min = static_cast<float>(dmin) * static_cast<float>(scales.min(i / 32));
    return scale * static_cast<float>(q[byte_of(i)] >> shift_of(i) & 15) - min;
  }
  /// Of 256 values: from the least and greatest of each sub-block, see gguf_fit.h.
  static q4_k quantise(const float* values);

  /// Where the four low bits of element i stand; in Q5_K too.
  ROOFTILE_HD static constexpr int byte_of(int i) { return i / 64 * 32 + i % 32; }
  ROOFTILE_HD static constexpr int shift_of(int i) { return i % 64 / 32 * 4; }
};
static_assert(sizeof(q4_k) == 144);

}  // namespace rooftile
