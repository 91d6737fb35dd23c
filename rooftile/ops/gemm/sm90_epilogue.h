// SPDX-License-Identifier: Apache-2.0
// From a warpgroup's accumulators to D: bias, activation and residual in f32, one rounding, then
// boxes of 64 rows of 128 bytes through swizzled shared memory by TMA; two boxes in turn, so that
// one is written while the other is copied. Where TMA cannot write D, element by element.
#pragma once

#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/tensor_map.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/ldmatrix.h"
#include "rooftile/tile/ptx/named_barrier.h"
#include "rooftile/tile/ptx/tma.h"
#include "rooftile/tile/unroll.h"
#endif

namespace rooftile::ops::gemm {

constexpr int kBoxRows = 64;
constexpr int kBoxBytes = kBoxRows * 128;
constexpr int kBoxesOfConsumer = 2;
constexpr int kBarrierThreads = 128;  // of a warpgroup

/// Where D is and what is done on the way to it.
struct Output {
  MatrixView d;
  Epilogue epilogue;
  long long m = 0, n = 0;
  bool is_plain = false;      // no epilogue, and D by TMA in the type of A and B
  bool by_tma = false;        // D in the type of A and B, or in f32
  bool stores_pairs = false;  // of columns, where D is written by threads: see sm90_host.h
};

#if ROOFTILE_DEVICE_CODE

/// One warpgroup's way to D.
template <class T>
struct OutputOf {
  const Output& out;
  const TensorMap* map;
  unsigned char* boxes;  // kBoxesOfConsumer, of this consumer
  int barrier;           // a named barrier of its own
  int thread;            // of the warpgroup
  int turn = 0;

  /// The 64 rows from (row, column) on of an accumulator. kIsGated: its second half is multiplied
  /// by the activated first half, and gone.
  template <bool kIsGated, int kRegisters>
  __device__ __forceinline__ void store(float (&sum)[kRegisters], long long row, long long column) {
    if (kIsGated || !out.is_plain) {
      finish_and_store<kIsGated>(sum, row, column);
      return;
    }
    constexpr int kOfBox = 32;  // registers of 64 columns
    ROOFTILE_UNROLL for (int i = 0; i < kRegisters; i += kOfBox) {
      if (column + i * 2 >= out.n) return;
      unsigned char* const box = begin_box();
      ROOFTILE_UNROLL for (int j = 0; j < kOfBox; j += 8) fill(box, &sum[i + j], j * 4);
      end_box(box, row, column + i * 2);
    }
  }

  /// The last stores are in memory.
  __device__ __forceinline__ void finish() const {
    if (thread == 0) bulk_wait<0>();
  }

 private:
  // What is finished at once: 32 columns.
  static constexpr int kChunk = 16;

  __device__ __forceinline__ unsigned char* begin_box() {
    if (thread == 0) bulk_wait_read<1>();  // the store before the last has read this box
    named_barrier_sync(barrier, kBarrierThreads);
    return boxes + turn * kBoxBytes;
  }

  __device__ __forceinline__ void end_box(unsigned char* box, long long row, long long column) {
    fence_proxy_async_shared();
    named_barrier_sync(barrier, kBarrierThreads);
    if (thread == 0) {
      tma_store(map, box_at(column, row), box);
      bulk_commit();
    }
    turn ^= 1;
  }

  // 16 columns of a box, from byte `first` of its rows on: a warp holds four matrices of 8 x 8, of
  // rows 0 and 8, then of columns 8 on.
  __device__ __forceinline__ void fill(unsigned char* box, const float* values, int first) const {
    using tile::PackOf;
    const int lane = thread % 32;
    const auto row = static_cast<uint32_t>(thread / 32 * 16 + lane % 16);
    const auto byte = static_cast<uint32_t>(first + lane / 16 * 16);
    const uint32_t quad[4] = {PackOf<T>::pack(values), PackOf<T>::pack(values + 2),
                              PackOf<T>::pack(values + 4), PackOf<T>::pack(values + 6)};
    stmatrix(box + swizzled(Swizzle::bytes128, row, byte), quad);
  }

  __device__ __forceinline__ void fill_f32(unsigned char* box, const float* values) const {
    ROOFTILE_UNROLL for (int i = 0; i < kChunk; i += 2) {
      const FragmentElement at = wgmma_accumulator(thread, i);
      *reinterpret_cast<float2*>(box + swizzled(Swizzle::bytes128, static_cast<uint32_t>(at.row),
                                                static_cast<uint32_t>(at.column * 4))) =
          make_float2(values[i], values[i + 1]);
    }
  }

  // In a loop that is not unrolled, the next chunk's registers moved to the front: the activations
  // are long.
  template <bool kIsGated, int kRegisters>
  __device__ __forceinline__ void finish_and_store(float (&sum)[kRegisters], long long row,
                                                   long long column) {
    const bool is_f32 = out.d.type == tile::Element::f32;
    unsigned char* box = nullptr;
    constexpr int kOfD = kIsGated ? kRegisters / 2 : kRegisters;
    ROOFTILE_NO_UNROLL for (int chunk = 0; chunk < kOfD / kChunk; ++chunk) {
      const bool is_even = chunk % 2 == 0;
      if (column >= out.n && (is_f32 || is_even)) return;
      finish_chunk(sum, kIsGated ? sum + kOfD : nullptr, row, column);
      if (!out.by_tma) {
        each(row, column, [&](int i, long long r, long long j) { store_at(out.d, r, j, sum[i]); });
      } else if (is_f32) {
        box = begin_box();
        fill_f32(box, sum);
        end_box(box, row, column);
      } else {  // two chunks are a box
        if (is_even) box = begin_box();
        ROOFTILE_UNROLL for (int j = 0; j < kChunk; j += 8)
            fill(box, sum + j, j * 4 + (is_even ? 0 : 64));
        if (!is_even) end_box(box, row, column - 2 * kChunk);
      }
      column += 2 * kChunk;
      ROOFTILE_UNROLL for (int i = 0; i + kChunk < kRegisters; ++i) sum[i] = sum[i + kChunk];
    }
  }

  // `gated`: multiplied by the activated values; null: nothing is.
  __device__ __forceinline__ void finish_chunk(float* values, const float* gated, long long row,
                                               long long column) const {
    const Epilogue& epilogue = out.epilogue;
    if (epilogue.bias.data != nullptr)
      each(row, column,
           [&](int i, long long, long long j) { values[i] += load_at(epilogue.bias, 0, j); });
    if (epilogue.act != Act::none) {
      float(&chunk)[kChunk] = *reinterpret_cast<float(*)[kChunk]>(values);
      if (out.d.type == tile::Element::f32)
        tile::activate<true>(epilogue.act, chunk);
      else
        tile::activate<false>(epilogue.act, chunk);
    }
    if (gated != nullptr) {
      ROOFTILE_UNROLL for (int i = 0; i < kChunk; ++i) values[i] *= gated[i];
    }
    if (epilogue.residual.data != nullptr)
      each(row, column,
           [&](int i, long long r, long long j) { values[i] += load_at(epilogue.residual, r, j); });
  }

  /// function(register, row, column) of those of a chunk that lie in D.
  template <class Function>
  __device__ __forceinline__ void each(long long row, long long column, Function function) const {
    ROOFTILE_UNROLL for (int i = 0; i < kChunk; ++i) {
      const FragmentElement at = wgmma_accumulator(thread, i);
      const long long r = row + at.row;
      const long long j = column + at.column;
      if (r < out.m && j < out.n) function(i, r, j);
    }
  }
};

#endif

}  // namespace rooftile::ops::gemm
