// SPDX-License-Identifier: Apache-2.0
// Where the tensor cores of sm_100 look for the scales of block-scaled operands (cuBLAS, "1D block
// scaling factors layout"; PTX tcgen05 "scale_vec"): tiles of 128 rows by 4 scales, 512 bytes each,
// row-major among themselves; within one, rows r, r+32, r+64 and r+96 lie together.
//
//   byte of a tile     8      4 3      2 1      0
//                  | r % 32    | r / 32  | c % 4 |       r, c: row and scale within the tile
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {

inline constexpr int kScaleTileRows = 128;
inline constexpr int kScaleTileCols = 4;

ROOFTILE_HD constexpr int64_t scale_tiles(int64_t count, int tile) {
  return (count + tile - 1) / tile;
}

/// Bytes of the swizzled scales of `rows` rows with `cols` scales each, padding included. Padding
/// must be filled with zeros.
ROOFTILE_HD constexpr int64_t swizzled_scale_bytes(int64_t rows, int64_t cols) {
  return scale_tiles(rows, kScaleTileRows) * scale_tiles(cols, kScaleTileCols) * 512;
}

/// The byte of scale `col` of `row`, where a row has `cols` scales.
ROOFTILE_HD constexpr int64_t swizzled_scale_offset(int64_t row, int64_t col, int64_t cols) {
  const int64_t tile =
      row / kScaleTileRows * scale_tiles(cols, kScaleTileCols) + col / kScaleTileCols;
  const int64_t in_tile = row % 32 * 16 + row % kScaleTileRows / 32 * 4 + col % kScaleTileCols;
  return tile * 512 + in_tile;
}

}  // namespace rooftile
