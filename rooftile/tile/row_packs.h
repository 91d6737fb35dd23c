// SPDX-License-Identifier: Apache-2.0
// A row of whole packs of 16 bytes, all aligned, that a warp or a block holds in its registers. Why
// beside the loops that take any row: without their tests and their 64-bit columns a thread needs
// few registers, and more rows are under way.
#pragma once

#include "rooftile/tile/elements.h"
#include "rooftile/tile/unroll.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// Lets the compiler forget what these packs are, so that it unpacks them again: what it keeps
/// unpacked takes twice the registers.
template <int kKept>
__device__ inline void keep_packed([[maybe_unused]] Pack (&packs)[kKept]) {
#ifdef __CUDACC__
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) asm volatile(
      "" : "+r"(packs[i].x), "+r"(packs[i].y), "+r"(packs[i].z), "+r"(packs[i].w));
#endif
}

/// Row blockIdx.x * blockDim.y + threadIdx.y: the thread has packs threadIdx.x + i * blockDim.x, i
/// below kKept, of those that are there. kFills: all of every row of every block are, which saves
/// the tests.
template <int kKept, bool kFills = false>
struct RowPacks {
  long long row;
  int packs;  // of the row; none beyond the last row

  __device__ RowPacks(long long rows, int of_row)
      : row(static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y),
        packs(row < rows ? of_row : 0) {}

  __device__ int at(int i) const {
    return static_cast<int>(threadIdx.x) + i * static_cast<int>(blockDim.x);
  }
  __device__ bool has(int i) const { return kFills || at(i) < packs; }

  /// The packs of this row of a matrix of T, rows `stride` elements apart; `fill` in place of those
  /// that are not there.
  template <class T>
  __device__ void load(Pack (&to)[kKept], const T* matrix, long long stride,
                       uint32_t fill = 0) const {
    const Pack* const from = reinterpret_cast<const Pack*>(matrix + row * stride);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      to[i] = make_uint4(fill, fill, fill, fill);
      if (has(i)) to[i] = from[at(i)];
    }
  }
  /// Writes pack i, if it is there.
  template <class T>
  __device__ void store(T* matrix, long long stride, int i, const Pack& pack) const {
    if (has(i)) store_whole(reinterpret_cast<Pack*>(matrix + row * stride) + at(i), pack);
  }
};

}  // namespace tile
}  // namespace rooftile
