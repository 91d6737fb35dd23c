// SPDX-License-Identifier: Apache-2.0
// GGUF Q5_0 and Q5_1: 32 elements of 5 bits with one scale, and in Q5_1 a minimum. As the reference
// decoder of ggml (and `gguf.quants` of Python) decodes them, bit for bit.
//
//   q5_0   | d | high[4] | q[16] |          22 bytes    value = d * (code - 16)
//   q5_1   | d | m | high[4] | q[16] |      24 bytes    value = d * code + m
//
//   d, m   binary16, little-endian
//   high   bit i of 32, from the lowest of byte 0 = bit 4 of the code of element i
//   q      byte j = | bits 0-3 of element j + 16 | bits 0-3 of element j |
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"

namespace ROOFTILE_API rooftile {

ROOFTILE_HD constexpr int q5_code(const uint8_t* q, const uint8_t* high, int i) {
  return (q[i % 16] >> (i / 16 * 4) & 15) | (high[i / 8] >> (i % 8) & 1) << 4;
}

struct q5_0 {
  static constexpr int kElements = 32;
  fp16 d;
  uint8_t high[4];
  uint8_t q[16];

  /// Element i, 0 to 31.
  ROOFTILE_HD constexpr float value(int i) const {
    return static_cast<float>(d) * static_cast<float>(q5_code(q, high, i) - 16);
  }
  /// Of 32 values. The one of the greatest magnitude gets the code 0 (that is, -16).
  static q5_0 quantise(const float* values);
};
static_assert(sizeof(q5_0) == 22);

struct q5_1 {
  static constexpr int kElements = 32;
  fp16 d;
  fp16 m;
  uint8_t high[4];
  uint8_t q[16];

  ROOFTILE_HD constexpr float value(int i) const {
    return static_cast<float>(d) * static_cast<float>(q5_code(q, high, i)) + static_cast<float>(m);
  }
  /// Of 32 values. The least gets the code 0, the greatest 31.
  static q5_1 quantise(const float* values);
};
static_assert(sizeof(q5_1) == 24);

}  // namespace rooftile
