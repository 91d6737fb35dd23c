// SPDX-License-Identifier: Apache-2.0
// The XOR swizzles of TMA and wgmma as functions of a byte offset in shared memory: where the
// hardware puts the 16-byte chunk that belongs at an offset. Source: PTX ISA, "Tensor Swizzling
// Modes" and "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// The value is the number of address bits that are changed. Bits of the byte offset:
///
///   bit       9 8 7 | 6 5 4 | 3 2 1 0
///             row   | chunk | byte of the 16-byte chunk
///   none      . . . | . . . | . . . .
///   32 bytes  . . r | . . c | . . . .     c ^= r      rows of  32 bytes, repeats every  256
///   64 bytes  . r r | . c c | . . . .     c ^= r      rows of  64 bytes, repeats every  512
///   128 bytes r r r | c c c | . . . .     c ^= r      rows of 128 bytes, repeats every 1024
///
/// Why r starts at bit 7 in all of them: 128 bytes are one pass over the 32 banks.
enum class Swizzle : std::uint8_t { none = 0, bytes32 = 1, bytes64 = 2, bytes128 = 3 };

constexpr std::uint32_t kSwizzleChunkBytes = 16;

/// Bytes of a row, the unit that TMA and wgmma lay out together; 16 for none.
constexpr std::uint32_t swizzle_row_bytes(Swizzle mode) {
  return kSwizzleChunkBytes << static_cast<unsigned>(mode);
}

/// Bytes after which the pattern repeats: 8 rows. The tile must start at a multiple of this if
/// offsets count from its start; the hardware swizzles the address itself.
constexpr std::uint32_t swizzle_period_bytes(Swizzle mode) { return 8 * swizzle_row_bytes(mode); }

/// Where the byte at `offset` of the plain layout lies. Its own inverse.
constexpr std::uint32_t swizzled(Swizzle mode, std::uint32_t offset) {
  const std::uint32_t chunk_mask = ((1u << static_cast<unsigned>(mode)) - 1) << 4;
  return offset ^ (offset >> 3 & chunk_mask);
}

/// Where byte `byte` of row `row` of a swizzled tile lies, from the tile's start.
constexpr std::uint32_t swizzled(Swizzle mode, std::uint32_t row, std::uint32_t byte) {
  return swizzled(mode, row * swizzle_row_bytes(mode) + byte);
}

}  // namespace rooftile
