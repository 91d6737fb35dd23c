// SPDX-License-Identifier: Apache-2.0
// From a warpgroup's accumulators to D. A sum that is stored as it is takes boxes of 64 rows of 128
// bytes through swizzled shared memory by TMA; two boxes in turn, so that one is written while the
// other is copied. A bias and an activation are applied on the way there, in registers. Where there
// is more to do (a gate, residual, a D that TMA cannot write) the sums pass through the same memory
// in f32, and threads finish pairs of columns.
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

/// What an instance of a kernel can do on the way to D. Why not all in one, nor exact activations:
/// where a function is long or calls another (a division does) ptxas optimises less, its main loop
/// too.
enum class Finish : uint8_t {
  plain,    // nothing, and D by TMA in the type of A and B
  columns,  // bias and activation, D as for plain
  any,      // bias, activation, residual, any D
  gated,    // any; half of the accumulators are multiplied by the activated other half
};

/// Where D is and what is done on the way to it.
struct Output {
  MatrixView d;
  Epilogue epilogue;
  long long m = 0, n = 0;
  Finish finish = Finish::any;  // the least that does it
  bool stores_pairs = false;    // of columns, where D is written by threads: see sm90_host.h
};

#if ROOFTILE_DEVICE_CODE

/// Columns j and j + 1 of D, where that is there, for one thread.
struct ColumnPair {
  long long j;
  bool has_second;
  float bias[2] = {0, 0};

  __device__ __forceinline__ ColumnPair(const Output& out, long long column)
      : j(column), has_second(column + 1 < out.n) {
    if (out.epilogue.bias.data == nullptr) return;
    bias[0] = load_at(out.epilogue.bias, 0, j);
    if (has_second) bias[1] = load_at(out.epilogue.bias, 0, j + 1);
  }

  /// The sums of kCount rows from `row` on, `apart` from each other, those below `end`. Why
  /// several: their loads are under way together. `gated`: what the activated values are multiplied
  /// by, or null.
  template <int kCount>
  __device__ __forceinline__ void finish_and_store(const Output& out, long long row, int apart,
                                                   long long end, float (&values)[2 * kCount],
                                                   const float* gated = nullptr) const {
    const Epilogue& epilogue = out.epilogue;
    float residual[2 * kCount] = {};
    if (epilogue.residual.data != nullptr) ROOFTILE_UNROLL for (int i = 0; i < kCount; ++i) {
        const long long r = row + i * apart;
        if (r >= end) continue;
        residual[2 * i] = load_at(epilogue.residual, r, j);
        if (has_second) residual[2 * i + 1] = load_at(epilogue.residual, r, j + 1);
      }
    ROOFTILE_UNROLL for (int i = 0; i < 2 * kCount; ++i) values[i] += bias[i % 2];
    tile::activate<false>(epilogue.act, values);
    ROOFTILE_UNROLL for (int i = 0; i < 2 * kCount; ++i) {
      if (gated != nullptr) values[i] *= gated[i];
      values[i] += residual[i];
    }
    ROOFTILE_UNROLL for (int i = 0; i < kCount; ++i) {
      const long long r = row + i * apart;
      if (r < end) store_two(out.d, r, j, has_second, out.stores_pairs, values + 2 * i);
    }
  }
};

/// One warpgroup's way to D.
template <class T>
struct OutputOf {
  const Output& out;
  const TensorMap* map;
  unsigned char* boxes;  // kBoxesOfConsumer, of this consumer
  int barrier;           // a named barrier of its own
  int thread;            // of the warpgroup
  int turn = 0;

  /// The 64 rows from (row, column) on of an accumulator. Finish::gated: its second half is
  /// multiplied by the activated first half, and gone.
  template <Finish kFinish, int kRegisters>
  __device__ __forceinline__ void store(float (&sum)[kRegisters], long long row, long long column) {
    if constexpr (kFinish == Finish::plain)
      store_plain(sum, row, column);
    else if constexpr (kFinish == Finish::columns)
      finish_columns(sum, row, column);
    else
      finish_and_store<kFinish == Finish::gated>(sum, row, column);
  }

  /// The last stores are in memory.
  __device__ __forceinline__ void finish() const {
    if (thread == 0) bulk_wait<0>();
  }

 private:
  template <int kRegisters>
  __device__ __forceinline__ void store_plain(const float (&sum)[kRegisters], long long row,
                                              long long column) {
    constexpr int kOfBox = 32;  // registers of 64 columns
    ROOFTILE_UNROLL for (int i = 0; i < kRegisters; i += kOfBox) {
      if (column + i * 2 >= out.n) return;
      unsigned char* const box = begin_box();
      ROOFTILE_UNROLL for (int j = 0; j < kOfBox; j += 8) fill(box, &sum[i + j], j * 4);
      end_box(box, row, column + i * 2);
    }
  }

  // A box at a time, in a loop that is not unrolled: see finish_and_store().
  template <int kRegisters>
  __device__ __forceinline__ void finish_columns(float (&sum)[kRegisters], long long row,
                                                 long long column) {
    constexpr int kOfBox = 32;
    ROOFTILE_NO_UNROLL for (int i = 0; i < kRegisters; i += kOfBox) {
      if (column >= out.n) return;
      float values[kOfBox];
      ROOFTILE_UNROLL for (int j = 0; j < kOfBox; ++j) values[j] = sum[j];
      if (out.epilogue.bias.data != nullptr) add_bias(values, column);
      tile::activate<false>(out.epilogue.act, values);
      unsigned char* const box = begin_box();
      ROOFTILE_UNROLL for (int j = 0; j < kOfBox; j += 8) fill(box, &values[j], j * 4);
      end_box(box, row, column);
      column += 64;
      ROOFTILE_UNROLL for (int j = 0; j + kOfBox < kRegisters; ++j) sum[j] = sum[j + kOfBox];
    }
  }

  // Registers of 64 columns: of each 8 a thread has two, in two rows.
  __device__ __forceinline__ void add_bias(float (&values)[32], long long column) const {
    float bias[16];
    // Why around the loop, and no branch for the columns beyond the last, which are not stored: all
    // loads are under way together.
    const auto load_all = [&](auto load) {
      ROOFTILE_UNROLL for (int i = 0; i < 16; ++i) {
        const long long j = column + wgmma_accumulator(thread, i / 2 * 4 + i % 2).column;
        bias[i] = load((j < out.n ? j : out.n - 1) * out.epilogue.bias.stride_j);
      }
    };
    const void* const data = out.epilogue.bias.data;
    switch (out.epilogue.bias.type) {
      case tile::Element::bf16:
        load_all([&](long long i) { return tile::load_element(data, tile::Element::bf16, i); });
        break;
      case tile::Element::fp16:
        load_all([&](long long i) { return tile::load_element(data, tile::Element::fp16, i); });
        break;
      default:
        load_all([&](long long i) { return tile::load_element(data, tile::Element::f32, i); });
    }
    ROOFTILE_UNROLL for (int i = 0; i < 32; ++i) values[i] += bias[i / 4 * 2 + i % 2];
  }

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

  // 32 columns in f32 into a box.
  __device__ __forceinline__ void fill_f32(unsigned char* box, const float* values) const {
    ROOFTILE_UNROLL for (int i = 0; i < 16; i += 2) {
      const FragmentElement at = wgmma_accumulator(thread, i);
      *reinterpret_cast<float2*>(box + swizzled(Swizzle::bytes128, static_cast<uint32_t>(at.row),
                                                static_cast<uint32_t>(at.column * 4))) =
          make_float2(values[i], values[i + 1]);
    }
  }

  // Both boxes at a time: 64 columns; gated, 32 of the gate and the 32 that they gate. In a loop
  // that is not unrolled, the next chunk's registers moved to the front: the activations are long.
  template <bool kIsGated, int kRegisters>
  __device__ __forceinline__ void finish_and_store(float (&sum)[kRegisters], long long row,
                                                   long long column) {
    constexpr int kOfD = kIsGated ? kRegisters / 2 : kRegisters;
    constexpr int kOfChunk = kIsGated ? 16 : 32;
    ROOFTILE_NO_UNROLL for (int chunk = 0; chunk < kOfD / kOfChunk; ++chunk) {
      if (column >= out.n) return;
      named_barrier_sync(barrier, kBarrierThreads);  // the chunk before has been read
      fill_f32(boxes, sum);
      fill_f32(boxes + kBoxBytes, sum + (kIsGated ? kOfD : 16));
      named_barrier_sync(barrier, kBarrierThreads);
      finish_chunk<kIsGated>(row, column);
      column += 2 * kOfChunk;
      ROOFTILE_UNROLL for (int i = 0; i + kOfChunk < kRegisters; ++i) sum[i] = sum[i + kOfChunk];
    }
  }

  // A thread has two columns of the chunk.
  template <bool kIsGated>
  __device__ __forceinline__ void finish_chunk(long long row, long long column) const {
    constexpr int kPairs = kIsGated ? 16 : 32;
    constexpr int kApart = kBarrierThreads / kPairs;
    constexpr int kAtOnce = 4;
    const int pair = thread % kPairs;
    if (column + 2 * pair >= out.n) return;
    const ColumnPair columns(out, column + 2 * pair);
    const unsigned char* const box = boxes + pair / 16 * kBoxBytes;
    ROOFTILE_NO_UNROLL for (int first = thread / kPairs; first < kBoxRows;
                            first += kAtOnce * kApart) {
      float values[2 * kAtOnce];
      float gated[2 * kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
        const uint32_t at = swizzled(Swizzle::bytes128, static_cast<uint32_t>(first + i * kApart),
                                     static_cast<uint32_t>(pair % 16 * 8));
        const float2 two = *reinterpret_cast<const float2*>(box + at);
        values[2 * i] = two.x;
        values[2 * i + 1] = two.y;
        if constexpr (kIsGated) {
          const float2 up = *reinterpret_cast<const float2*>(box + kBoxBytes + at);
          gated[2 * i] = up.x;
          gated[2 * i + 1] = up.y;
        }
      }
      columns.finish_and_store<kAtOnce>(out, row + first, kApart, out.m, values,
                                        kIsGated ? gated : nullptr);
    }
  }
};

#endif

}  // namespace rooftile::ops::gemm
