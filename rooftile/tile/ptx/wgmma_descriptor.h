// SPDX-License-Identifier: Apache-2.0
// The descriptor of a matrix in shared memory that wgmma takes. PTX ISA, "Matrix Descriptor Format"
// and "Shared Memory Matrix Layout" of wgmma.
#pragma once

#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/ptx/shared_address.h"

namespace rooftile {

/// How the tile lies in shared memory, built of core matrices: 8 rows of 16 bytes. A row is 16
/// bytes times the swizzle; 8 rows are one pattern, which starts at a multiple of its size.
///
///   major, swizzle     16-byte chunk c of row r (k-major: r counts m or n, c counts k) lies at
///   k, none            (r / 8) * stride + (r % 8) * 16 + c * leading
///   k, 32 64 128       (r / 8) * stride + (r % 8) * row_bytes + c * 16, swizzled
///                      mn-major: chunk c counts 8 elements of m or n, r counts k
///   mn, none           (r / 8) * leading + (r % 8) * 16 + c * stride
///   mn, 32 64 128      (r / 8) * stride + (r % 8) * row_bytes
///                      + (c / chunks_of_row) * leading + (c % chunks_of_row) * 16, swizzled
struct WgmmaLayout {
  Swizzle swizzle = Swizzle::bytes128;
  uint32_t stride_bytes = 0;   // multiples of 16, below 2^18
  uint32_t leading_bytes = 0;  // not used by k-major swizzled layouts
  uint32_t base_offset = 0;    // (address of the pattern >> 7) & 7, where it is not aligned
};

/// A tile of rows of row_bytes(swizzle), one after the other: what a TMA box of that width makes.
ROOFTILE_HD constexpr WgmmaLayout k_major_rows(Swizzle swizzle) {
  return {swizzle, 8 * (uint32_t{16} << static_cast<unsigned>(swizzle)), 16, 0};
}

///   bit  63 62 61   52 51  49 48 46 45          32 31 30 29           16 15 14 13           0
///      |swizzle|  0   | base |  0  | stride >> 4  |  0  | leading >> 4  |  0  | address >> 4 |
///
/// swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes; base: base_offset.
ROOFTILE_HD constexpr uint64_t wgmma_descriptor_bits(uint32_t address, WgmmaLayout layout) {
  const auto swizzle = static_cast<unsigned>(layout.swizzle);
  return uint64_t{(address & 0x3ffff) >> 4} |
         uint64_t{(layout.leading_bytes & 0x3ffff) >> 4} << 16 |
         uint64_t{(layout.stride_bytes & 0x3ffff) >> 4} << 32 |
         uint64_t{layout.base_offset & 7} << 49 | uint64_t{(4 - swizzle) & 3} << 62;
}

/// Of a tile that starts at `tile` in shared memory.
__device__ __forceinline__ uint64_t wgmma_descriptor(const void* tile, WgmmaLayout layout) {
  return wgmma_descriptor_bits(shared_address(tile), layout);
}

/// The same tile `bytes` further on, a multiple of 16: 32 bytes for the next k of a k-major row.
ROOFTILE_HD constexpr uint64_t advanced(uint64_t descriptor, uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

/// The fields of a descriptor again.
ROOFTILE_HD constexpr uint32_t descriptor_address(uint64_t descriptor) {
  return static_cast<uint32_t>(descriptor & 0x3fff) << 4;
}
ROOFTILE_HD constexpr WgmmaLayout descriptor_layout(uint64_t descriptor) {
  return {static_cast<Swizzle>((4 - (descriptor >> 62)) & 3),
          static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4,
          static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4,
          static_cast<uint32_t>(descriptor >> 49 & 7)};
}

}  // namespace rooftile
