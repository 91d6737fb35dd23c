// SPDX-License-Identifier: Apache-2.0
// Elements smaller than a byte: reading and writing one code without touching its neighbours. A
// writer changes one or two whole bytes, so two threads must not write elements of the same byte.
//
//   4 bit   byte 0 = | element 1 | element 0 |        low first; high first is the other way round
//   6 bit   bytes 2, 1, 0 = | element 3 | element 2 | element 1 | element 0 |
//           that is, element i in bits 6i to 6i+5 of a little-endian stream of bits
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

/// Where the element with the even index lies within its byte.
enum class NibbleOrder : uint8_t { low_first, high_first };

ROOFTILE_HD constexpr int nibble_shift(int64_t index, NibbleOrder order) {
  return ((index & 1) != 0) == (order == NibbleOrder::low_first) ? 4 : 0;
}

/// Two codes as a byte; their upper bits are ignored.
ROOFTILE_HD constexpr uint8_t pack_nibbles(uint32_t first, uint32_t second,
                                           NibbleOrder order = NibbleOrder::low_first) {
  return static_cast<uint8_t>((first & 15) << nibble_shift(0, order) |
                              (second & 15) << nibble_shift(1, order));
}

ROOFTILE_HD constexpr uint8_t load_nibble(const uint8_t* bytes, int64_t index,
                                          NibbleOrder order = NibbleOrder::low_first) {
  return bytes[index / 2] >> nibble_shift(index, order) & 15;
}

ROOFTILE_HD constexpr void store_nibble(uint8_t* bytes, int64_t index, uint32_t code,
                                        NibbleOrder order = NibbleOrder::low_first) {
  const int shift = nibble_shift(index, order);
  uint8_t& byte = bytes[index / 2];
  byte = static_cast<uint8_t>((byte & ~(15U << shift)) | (code & 15) << shift);
}

/// A code of two's complement, 4 bits wide, as a number.
ROOFTILE_HD constexpr int sign_extend_nibble(uint32_t code) {
  return static_cast<int>((code & 15) ^ 8) - 8;
}

ROOFTILE_HD constexpr uint8_t load_sixbit(const uint8_t* bytes, int64_t index) {
  const uint8_t* at = bytes + index / 4 * 3 + (index % 4 * 6) / 8;
  const int shift = static_cast<int>(index % 4 * 6 % 8);
  const uint32_t next = shift > 2 ? at[1] : 0;  // why: the last element has no byte after it
  return (at[0] | next << 8) >> shift & 63;
}

ROOFTILE_HD constexpr void store_sixbit(uint8_t* bytes, int64_t index, uint32_t code) {
  uint8_t* at = bytes + index / 4 * 3 + (index % 4 * 6) / 8;
  const int shift = static_cast<int>(index % 4 * 6 % 8);
  const uint32_t mask = 63U << shift;
  const uint32_t placed = (code & 63) << shift;
  at[0] = static_cast<uint8_t>((at[0] & ~mask) | placed);
  if (shift > 2) at[1] = static_cast<uint8_t>((at[1] & ~(mask >> 8)) | placed >> 8);
}

}  // namespace rooftile
