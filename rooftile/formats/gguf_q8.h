// SPDX-License-Identifier: Apache-2.0
// GGUF Q8_0: 32 elements of 8 bits with one scale. As the reference decoder of ggml (and
// `gguf.quants` of Python) decodes them, bit for bit.
//
//   q8_0   | d | q[32] |      34 bytes    value = code * d
//
//   d      binary16, little-endian
//   q      two's complement
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/fp16.h"

namespace ROOFTILE_API rooftile {

struct q8_0 {
  static constexpr int kElements = 32;
  fp16 d;
  int8_t q[32];

  /// Element i, 0 to 31.
  ROOFTILE_HD constexpr float value(int i) const {
    return static_cast<float>(q[i]) * static_cast<float>(d);
  }
  /// Of 32 values. The greatest magnitude gets the code 127 or -127.
  static q8_0 quantise(const float* values);
};
static_assert(sizeof(q8_0) == 34);

}  // namespace rooftile
