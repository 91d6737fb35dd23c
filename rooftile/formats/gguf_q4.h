// SPDX-License-Identifier: Apache-2.0
// GGUF Q4_0 and Q4_1: 32 elements of 4 bits with one scale, and in Q4_1 a minimum. As the reference
// decoder of ggml (and `gguf.quants` of Python) decodes them, bit for bit.
//
//   q4_0   | d | q[16] |          18 bytes    value = d * (code - 8)
//   q4_1   | d | m | q[16] |      20 bytes    value = d * code + m
//
//   d, m   binary16, little-endian
//   q      byte j = | code of element j + 16 | code of element j |
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"

namespace ROOFTILE_API rooftile {

struct q4_0 {
  static constexpr int kElements = 32;
  fp16 d;
  uint8_t q[16];

  /// Element i, 0 to 31.
  ROOFTILE_HD constexpr float value(int i) const {
    return static_cast<float>(d) * static_cast<float>((q[i % 16] >> (i / 16 * 4) & 15) - 8);
  }
  /// Of 32 values. The one of the greatest magnitude gets the code 0 (that is, -8).
  static q4_0 quantise(const float* values);
};
static_assert(sizeof(q4_0) == 18);

struct q4_1 {
  static constexpr int kElements = 32;
  fp16 d;
  fp16 m;
  uint8_t q[16];

  ROOFTILE_HD constexpr float value(int i) const {
    const auto code = static_cast<float>(q[i % 16] >> (i / 16 * 4) & 15);
    return static_cast<float>(d) * code + static_cast<float>(m);
  }
  /// Of 32 values. The least gets the code 0, the greatest 15.
  static q4_1 quantise(const float* values);
};
static_assert(sizeof(q4_1) == 20);

}  // namespace rooftile
