// SPDX-License-Identifier: Apache-2.0
// From a warpgroup's accumulators to D. Where a thread can finish its elements by itself (a bias,
// an activation, a gate) it packs them in D's type, which frees the accumulators, and D leaves
// while the next tile is multiplied: boxes of 64 rows of 128 bytes through swizzled shared memory
// by TMA, two in turn, so that one is written while the other is copied. Where there is more to do
// (a residual, a D that TMA cannot write) the sums pass through the same memory in f32, and threads
// finish pairs of columns.
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

constexpr int kConsumerRows = 64;
constexpr int kBoxRows = 16;  // a warp's of these
constexpr int kBoxColumns = 64;
constexpr int kBoxBytes = kConsumerRows * 2 * kBoxColumns;  // of the four warps together
constexpr int kBoxesOfConsumer = 2;
constexpr int kBarrierThreads = 128;  // of a warpgroup

/// What an instance of a kernel can do on the way to D. Why not all in one, nor exact activations:
/// where a function is long or calls another (a division does) ptxas optimises less, its main loop
/// too.
enum class Finish : uint8_t {
  plain,      // nothing, and D by TMA in the type of A and B
  columns,    // bias and activation, D as for plain
  residual,   // the same and a residual like D
  any,        // bias, activation, residual, any D
  gated,      // half of the accumulators times the activated other half, D as for plain
  gated_any,  // the same, any D
  parts,      // sums of a part of k as the registers have them, see sm90_split.cu
};
constexpr bool is_gated(Finish finish) {
  return finish == Finish::gated || finish == Finish::gated_any;
}
constexpr bool stores_any(Finish finish) {
  return finish == Finish::any || finish == Finish::gated_any;
}
/// Whether D leaves by TMA.
constexpr bool stores_by_tma(Finish finish) {
  return !stores_any(finish) && finish != Finish::parts;
}

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

/// One warpgroup's way to D, from kRegisters accumulators of a thread for 64 rows. Finish::gated
/// and gated_any: the second half of them is multiplied by the activated first half.
template <class T, Finish kFinish, int kRegisters>
struct OutputOf {
  static constexpr int kOfBox = 32;  // registers of a box's columns, and half as many packed
  static constexpr int kOfD = is_gated(kFinish) ? kRegisters / 2 : kRegisters;
  static constexpr int kBoxes = stores_by_tma(kFinish) ? kOfD / kOfBox : 0;
  /// Of a tile that take() leaves to store_half(). Why halves: shared memory is busy, and the
  /// matrix unit waits for what is done at once.
  static constexpr int kHalves = 2 * kBoxes;

  const Output& out;
  const TensorMap* map;
  unsigned char* boxes;  // kBoxesOfConsumer, of this consumer
  int barrier;           // a named barrier of its own
  int thread;            // of the warpgroup
  int turn = 0;
  long long row = 0;         // of D, where what is packed belongs
  long long column = out.n;  // none yet
  uint32_t packed[kOfD / 2] = {};

  /// The 64 rows of a tile from (first_row, first_column) on; all halves of the one before have
  /// been stored. The accumulators are free after, and changed.
  __device__ __forceinline__ void take(float (&sum)[kRegisters], long long first_row,
                                       long long first_column) {
    row = first_row;
    column = first_column;
    if constexpr (kFinish == Finish::parts)
      store_registers(sum);
    else if constexpr (stores_any(kFinish))
      finish_and_store(sum);
    else if constexpr (kFinish == Finish::plain)
      ROOFTILE_UNROLL for (int i = 0; i < kBoxes; ++i) pack(&sum[i * kOfBox], i);
    else
      finish_and_pack(sum);
  }

  /// 32 columns of what was taken, if D has them, halves in their order: the second sends the box.
  __device__ __forceinline__ void store_half(int half) {
    const long long first = column + half / 2 * kBoxColumns;
    if (first >= out.n) return;
    const int lane = thread % 32;
    unsigned char* const box = boxes + turn * kBoxBytes + thread / 32 * (kBoxRows * 128);
    if (half % 2 == 0) {
      if (lane == 0) bulk_wait_read<kBoxesOfConsumer - 1>();  // this box has been copied
      __syncwarp();
    }
    ROOFTILE_UNROLL for (int i = 0; i < 8; i += 4)
        fill(box, &packed[half * 8 + i], half % 2 * 64 + i * 8);
    if (half % 2 == 0) return;
    fence_proxy_async_shared();
    __syncwarp();
    if (lane == 0) {
      tma_store(map, box_at(first, row + thread / 32 * kBoxRows), box);
      bulk_commit();
    }
    turn ^= 1;
  }

  /// All that was taken has left the boxes.
  __device__ __forceinline__ void finish() {
    if constexpr (kFinish != Finish::parts) {
      ROOFTILE_UNROLL for (int i = 0; i < kHalves; ++i) store_half(i);
      if (thread % 32 == 0) bulk_wait_read<0>();
    }
  }

 private:
  // Why unrolled, and the accumulators stay as they are: ptxas lets wgmma run one at a time where
  // they change.
  __device__ __forceinline__ void finish_and_pack(const float (&sum)[kRegisters]) {
    ROOFTILE_UNROLL for (int i = 0; i < kBoxes; ++i) {
      float values[kOfBox];
      ROOFTILE_UNROLL for (int j = 0; j < kOfBox; ++j) values[j] = sum[i * kOfBox + j];
      if (out.epilogue.bias.data != nullptr) add_bias(values, column + i * kBoxColumns);
      tile::activate<false>(out.epilogue.act, values);
      if constexpr (is_gated(kFinish))
        ROOFTILE_UNROLL for (int j = 0; j < kOfBox; ++j) values[j] *= sum[kOfD + i * kOfBox + j];
      if constexpr (kFinish == Finish::residual) add_residual(values, i);
      pack(values, i);
    }
  }

  // What lies where box i will be; all loads are under way together.
  __device__ __forceinline__ void add_residual(float (&values)[kOfBox], int i) const {
    const MatrixView& from = out.epilogue.residual;
    // Of each 8 columns a thread has two, in two rows.
    const FragmentElement at = wgmma_accumulator(thread, 0);
    const long long first = column + i * kBoxColumns + at.column;
    ROOFTILE_UNROLL for (int half = 0; half < 2; ++half) {
      const long long r = row + at.row + 8 * half;
      const uint16_t* const in_row =
          static_cast<const uint16_t*>(from.data) + r * from.stride_i + first;
      uint32_t pairs[8];
      ROOFTILE_UNROLL for (int j = 0; j < 8; ++j) {
        pairs[j] = 0;
        if (r < out.m && first + 8 * j < out.n)
          pairs[j] = *reinterpret_cast<const uint32_t*>(in_row + 8 * j);
      }
      ROOFTILE_UNROLL for (int j = 0; j < 8; ++j) {
        float two[2];
        tile::PackOf<T>::unpack(two, pairs[j]);
        values[4 * j + 2 * half] += two[0];
        values[4 * j + 2 * half + 1] += two[1];
      }
    }
  }

  // What of D belongs into box i.
  __device__ __forceinline__ void pack(const float* values, int i) {
    ROOFTILE_UNROLL for (int j = 0; j < kOfBox / 2; ++j) packed[i * kOfBox / 2 + j] =
        tile::PackOf<T>::pack(&values[2 * j]);
  }

  // Registers of 64 columns from `first` on: of each 8 a thread has two, in two rows.
  __device__ __forceinline__ void add_bias(float (&values)[32], long long first) const {
    float bias[16];
    // Why around the loop, and no branch for the columns beyond the last, which are not stored: all
    // loads are under way together.
    const auto load_all = [&](auto load) {
      ROOFTILE_UNROLL for (int i = 0; i < 16; ++i) {
        const long long j = first + wgmma_accumulator(thread, i / 2 * 4 + i % 2).column;
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

  // The sums as they are: `row` counts blocks of kRegisters * kBarrierThreads of them.
  __device__ __forceinline__ void store_registers(const float (&sum)[kRegisters]) const {
    constexpr int kQuads = kRegisters / 4;
    auto* const to = static_cast<float4*>(out.d.data) + row * kQuads * kBarrierThreads + thread;
    ROOFTILE_UNROLL for (int i = 0; i < kQuads; ++i) to[i * kBarrierThreads] =
        make_float4(sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]);
  }

  // 16 columns of a warp's box, from byte `first` of its rows on: four matrices of 8 x 8, of rows 0
  // and 8, then of columns 8 on.
  __device__ __forceinline__ void fill(unsigned char* box, const uint32_t* pairs, int first) const {
    const int lane = thread % 32;
    const auto byte = static_cast<uint32_t>(first + lane / 16 * 16);
    const uint32_t quad[4] = {pairs[0], pairs[1], pairs[2], pairs[3]};
    stmatrix(box + swizzled(Swizzle::bytes128, static_cast<uint32_t>(lane % 16), byte), quad);
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
  __device__ __forceinline__ void finish_and_store(float (&sum)[kRegisters]) {
    constexpr int kOfChunk = is_gated(kFinish) ? 16 : 32;
    ROOFTILE_NO_UNROLL for (int chunk = 0; chunk < kOfD / kOfChunk; ++chunk) {
      if (column >= out.n) return;
      named_barrier_sync(barrier, kBarrierThreads);  // the chunk before has been read
      fill_f32(boxes, sum);
      fill_f32(boxes + kBoxBytes, sum + (is_gated(kFinish) ? kOfD : 16));
      named_barrier_sync(barrier, kBarrierThreads);
      finish_chunk();
      column += 2 * kOfChunk;
      ROOFTILE_UNROLL for (int i = 0; i + kOfChunk < kRegisters; ++i) sum[i] = sum[i + kOfChunk];
    }
  }

  // A thread has two columns of the chunk.
  __device__ __forceinline__ void finish_chunk() const {
    constexpr int kPairs = is_gated(kFinish) ? 16 : 32;
    constexpr int kApart = kBarrierThreads / kPairs;
    constexpr int kAtOnce = 4;
    const int pair = thread % kPairs;
    if (column + 2 * pair >= out.n) return;
    const ColumnPair columns(out, column + 2 * pair);
    const unsigned char* const box = boxes + pair / 16 * kBoxBytes;
    ROOFTILE_NO_UNROLL for (int first = thread / kPairs; first < kConsumerRows;
                            first += kAtOnce * kApart) {
      float values[2 * kAtOnce];
      float gated[2 * kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
        const uint32_t at = swizzled(Swizzle::bytes128, static_cast<uint32_t>(first + i * kApart),
                                     static_cast<uint32_t>(pair % 16 * 8));
        const float2 two = *reinterpret_cast<const float2*>(box + at);
        values[2 * i] = two.x;
        values[2 * i + 1] = two.y;
        if constexpr (is_gated(kFinish)) {
          const float2 up = *reinterpret_cast<const float2*>(box + kBoxBytes + at);
          gated[2 * i] = up.x;
          gated[2 * i + 1] = up.y;
        }
      }
      columns.finish_and_store<kAtOnce>(out, row + first, kApart, out.m, values,
                                        is_gated(kFinish) ? gated : nullptr);
    }
  }
};

#endif

}  // namespace rooftile::ops::gemm
