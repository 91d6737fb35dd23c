// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over the threads that share a row, in one order: the same bits whatever the other
// rows do. A block is [rows, threads of a row] (threadIdx.y, threadIdx.x): a power of two of
// threads up to a warp, or whole warps with one row a block; the block is of whole warps, all of
// which take part.
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/unroll.h"

namespace ROOFTILE_API rooftile {
namespace tile {

constexpr unsigned kWholeWarp = 0xffffffffU;
constexpr int kWarp = 32;
constexpr int kMostWarps = 32;  // of a block

/// Butterfly over groups of `lanes` neighbours, a power of two: all get the result.
template <class T, class Combine>
__device__ inline T lanes_reduce(T value, int lanes, Combine combine) {
  ROOFTILE_UNROLL for (int distance = lanes / 2; distance > 0; distance /= 2) value =
      combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
}

/// combine() over the row's threads; `neutral` changes nothing. `scratch`: shared, for this call
/// alone.
template <class T, class Combine>
__device__ inline T row_reduce(T value, T neutral, T (&scratch)[kMostWarps], Combine combine) {
  if (blockDim.x <= kWarp) return lanes_reduce(value, static_cast<int>(blockDim.x), combine);
  value = lanes_reduce(value, kWarp, combine);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) scratch[threadIdx.x / kWarp] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  return lanes_reduce(lane < warps ? scratch[lane] : neutral, kWarp, combine);
}

__device__ inline float row_sum(float value, float (&scratch)[kMostWarps]) {
  return row_reduce(value, 0.0F, scratch, [](float a, float b) { return a + b; });
}

/// NaNs are dropped.
__device__ inline float row_max(float value, float (&scratch)[kMostWarps]) {
  return row_reduce(value, -HUGE_VALF, scratch, [](float a, float b) { return fmaxf(a, b); });
}

}  // namespace tile
}  // namespace rooftile
