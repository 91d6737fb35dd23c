// SPDX-License-Identifier: Apache-2.0
// The scales of GGUF Q4_K and Q5_K: 8 scales and 8 minima of 6 bits in 12 bytes.
//
//   byte j,     j < 4   | bits 4-5 of scale 4 + j | scale j |
//   byte 4 + j          | bits 4-5 of min 4 + j   | min j   |
//   byte 8 + j          | bits 0-3 of min 4 + j   | bits 0-3 of scale 4 + j |
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

struct KScales {
  uint8_t bytes[12];

  /// Of sub-block j, 0 to 7.
  ROOFTILE_HD constexpr int scale(int j) const {
    return j < 4 ? bytes[j] & 63 : (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
  }
  ROOFTILE_HD constexpr int min(int j) const {
    return j < 4 ? bytes[j + 4] & 63 : bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
  }
  /// Writes both, 0 to 63 each, where `bytes` holds zeros.
  ROOFTILE_HD constexpr void set(int j, int scale, int min) {
    if (j < 4) {
      bytes[j] = static_cast<uint8_t>(bytes[j] | scale);
      bytes[j + 4] = static_cast<uint8_t>(bytes[j + 4] | min);
    } else {
      bytes[j + 4] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
      bytes[j - 4] = static_cast<uint8_t>(bytes[j - 4] | scale >> 4 << 6);
      bytes[j] = static_cast<uint8_t>(bytes[j] | min >> 4 << 6);
    }
  }
};

}  // namespace rooftile
