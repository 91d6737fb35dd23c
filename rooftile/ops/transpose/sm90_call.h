// SPDX-License-Identifier: Apache-2.0
// The parameter of transpose's tiled kernels.
#pragma once

namespace rooftile::ops::transpose {

/// y[c, r] = x[r, c]; elements of a row are adjacent, strides of rows in elements.
struct TileCall {
  void* y;
  const void* x;
  long long y_stride, x_stride;
  long long rows, cols;  // of x
  long long tiles_of_row;
  bool y_is_aligned, x_is_aligned;  // every row, to 16 bytes
};

}  // namespace rooftile::ops::transpose
