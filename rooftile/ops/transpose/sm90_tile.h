// SPDX-License-Identifier: Apache-2.0
// A tile of 32 by 32 through shared memory: rows of x in, rows of y out (G. Ruetsch and
// P. Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009). Device code.
#pragma once

#include "rooftile/ops/transpose/sm90_call.h"
#include "rooftile/tile/language.h"

namespace rooftile::ops::transpose {

constexpr int kTile = 32;

/// For a block of [8, 32] threads. A row of the tile in shared memory may be longer than 32.
template <class Bits, int kRow>
__device__ inline void transpose_tile(const TileCall& call, Bits (&tile)[kTile][kRow]) {
  const long long tile_row = blockIdx.x / call.tiles_of_row;
  const long long first_r = tile_row * kTile;
  const long long first_c = (blockIdx.x - tile_row * call.tiles_of_row) * kTile;
  const int step = static_cast<int>(blockDim.y);
  const auto* x = static_cast<const Bits*>(call.x);
  auto* y = static_cast<Bits*>(call.y);
  const long long c = first_c + threadIdx.x;
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += step)
    if (first_r + i < call.rows && c < call.cols)
      tile[i][threadIdx.x] = x[(first_r + i) * call.x_stride + c];
  __syncthreads();
  const long long r = first_r + threadIdx.x;
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += step)
    if (first_c + i < call.cols && r < call.rows)
      y[(first_c + i) * call.y_stride + r] = tile[threadIdx.x][i];
}

}  // namespace rooftile::ops::transpose
