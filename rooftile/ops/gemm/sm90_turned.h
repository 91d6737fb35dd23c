// SPDX-License-Identifier: Apache-2.0
// From a warpgroup's accumulators to D where the operands are exchanged: 64 columns of D are the
// accumulators' rows, rows of D their columns. A part of the tile's rows of D at a time. As in
// sm90_epilogue.h a thread finishes its elements by itself if it can, and D passes through shared
// memory, turned on the way by stmatrix; where there is more to do the sums do so in f32. Why not
// by TMA from there: a tile's D is small, and to begin and to await its copies costs more.
#pragma once

#include "rooftile/ops/gemm/sm90_epilogue.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/ptx/cluster.h"
#endif

namespace rooftile::ops::gemm {

/// A tile of 64 columns of D and kColumns rows, kColumns as the accumulators have them.
template <int kColumns>
struct TurnedTile {
  /// Rows of D that are stored at a time, of the kParts parts of a tile: all, where eight are all.
  static constexpr int kOfPart = kColumns == 8 ? 8 : kColumns / 2;
  static constexpr int kParts = kColumns / kOfPart;
  static constexpr int kRegisters = kOfPart / 2;  // accumulators of a thread
  /// Shared memory of a warpgroup: a part in f32, or both parts as D has them.
  static constexpr int kBytes = kOfPart * 64 * 4;
};

#if ROOFTILE_DEVICE_CODE

/// A warpgroup's way to D.
template <class T, int kColumns>
struct TurnedOutput {
  using Tile = TurnedTile<kColumns>;
  static constexpr int kCount = Tile::kRegisters;
  static constexpr int kQuads = kCount / 4;

  const Output& out;
  unsigned char* memory;  // Tile::kBytes, of this warpgroup
  int barrier;            // a named barrier of its own
  int thread;             // of the warpgroup
  long long row;          // of D, where the tile begins

  /// The part but `part` to the same memory of block `peer` of the cluster, which sums the other
  /// half of k; then a barrier of the cluster that releases. With one part alone it is the first
  /// block's.
  __device__ __forceinline__ void send(const float (&sum)[kColumns / 2], int part, int peer) const {
    if (Tile::kParts == 1 && part == 0) return;
    float sent[kCount];
    take(sent, sum, 1 - part);
    auto* const theirs = map_shared(reinterpret_cast<float4*>(memory), static_cast<uint32_t>(peer));
    ROOFTILE_UNROLL for (int i = 0; i < kQuads; ++i) theirs[i * kWarpgroupThreads + thread] =
        make_float4(sent[4 * i], sent[4 * i + 1], sent[4 * i + 2], sent[4 * i + 3]);
  }

  /// What the other block has sent, which is there.
  __device__ __forceinline__ void add_received(float (&values)[kCount]) const {
    const auto* const received = reinterpret_cast<const float4*>(memory);
    ROOFTILE_UNROLL for (int i = 0; i < kQuads; ++i) {
      const float4 other = received[i * kWarpgroupThreads + thread];
      values[4 * i] += other.x;
      values[4 * i + 1] += other.y;
      values[4 * i + 2] += other.z;
      values[4 * i + 3] += other.w;
    }
  }

  /// The sums of a part.
  static __device__ __forceinline__ void take(float (&kept)[kCount],
                                              const float (&sum)[kColumns / 2], int part) {
    constexpr int kOther = kColumns / 2 - kCount;
    ROOFTILE_UNROLL for (int i = 0; i < kCount; ++i) kept[i] = part == 0 ? sum[i] : sum[kOther + i];
  }

  /// Rows of part `part` and 64 columns from `column` on. The values change.
  __device__ __forceinline__ void store(float (&values)[kCount], int part, long long column) const {
    const long long first = row + part * Tile::kOfPart;
    if (stores_any(out.finish) || out.finish == Finish::residual) {
      store_f32(values, first, column);
      return;
    }
    if (out.finish == Finish::columns) finish(values, column);
    unsigned char* const box = memory + part * (Tile::kBytes / 2);
    meet();  // what was there has been read
    fill(box, values);
    meet();
    copy(box, first, column);
  }

 private:
  static constexpr int kWarpgroupThreads = 128;

  __device__ __forceinline__ void meet() const { named_barrier_sync(barrier, kWarpgroupThreads); }

  // A bias and an activation. The activations are long: a loop over eight values, which pass at the
  // front of the registers.
  __device__ __forceinline__ void finish(float (&values)[kCount], long long column) const {
    constexpr int kAtOnce = kCount < 8 ? kCount : 8;
    const MatrixView& bias = out.epilogue.bias;
    float of_row[2] = {0, 0};
    if (bias.data != nullptr) ROOFTILE_UNROLL for (int i = 0; i < 2; ++i) {
        const long long j = column + wgmma_accumulator(thread, 2 * i).row;
        if (j < out.n) of_row[i] = load_at(bias, 0, j);
      }
    ROOFTILE_NO_UNROLL for (int turn = 0; turn < kCount / kAtOnce; ++turn) {
      float some[kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) some[i] = values[i] + of_row[i / 2 % 2];
      tile::activate<false>(out.epilogue.act, some);
      ROOFTILE_UNROLL for (int i = 0; i + kAtOnce < kCount; ++i) values[i] = values[i + kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) values[kCount - kAtOnce + i] = some[i];
    }
  }

  // The warp's 16 columns of D in the rows of the box: two or four matrices of 8 x 8, of columns 0
  // and 8, then of rows 8 on.
  __device__ __forceinline__ void fill(unsigned char* box, const float (&values)[kCount]) const {
    constexpr int kMatrices = kCount < 8 ? 2 : 4;
    const int lane = thread % 32;
    const auto byte = static_cast<uint32_t>(thread / 32 * 32 + lane / 8 % 2 * 16);
    ROOFTILE_UNROLL for (int i = 0; i < kCount; i += 2 * kMatrices) {
      uint32_t pairs[kMatrices];
      ROOFTILE_UNROLL for (int j = 0; j < kMatrices; ++j) pairs[j] =
          tile::PackOf<T>::pack(&values[i + 2 * j]);
      const int in_box = i * 2 + lane / 16 * 8 % (4 * kMatrices) + lane % 8;
      stmatrix<Transpose::yes>(
          box + swizzled(Swizzle::bytes128, static_cast<uint32_t>(in_box), byte), pairs);
    }
  }

  // From the box to D, 16 bytes at a time.
  __device__ __forceinline__ void copy(const unsigned char* box, long long first,
                                       long long column) const {
    constexpr int kPieces = 8;  // of a row
    constexpr int kOfPiece = 8;
    constexpr int kOfBox = Tile::kOfPart * kPieces;
    ROOFTILE_UNROLL for (int i = 0; i < kOfBox; i += kWarpgroupThreads) {
      const int in_box = (i + thread) / kPieces;
      const int piece = (i + thread) % kPieces;
      const long long at = column + piece * kOfPiece;
      if (i + thread >= kOfBox || first + in_box >= out.m || at >= out.n) continue;
      const auto* const from = reinterpret_cast<const uint4*>(
          box + swizzled(Swizzle::bytes128, static_cast<uint32_t>(in_box),
                         static_cast<uint32_t>(piece) * 16));
      auto* const d = static_cast<T*>(out.d.data) + (first + in_box) * out.d.stride_i + at;
      *reinterpret_cast<uint4*>(d) = *from;
    }
  }

  // Of a row of the part, 64 sums; in an order in which a warp's fall into different banks.
  static __device__ __forceinline__ int place(int in_part, int column) {
    return in_part * 64 + (column ^ in_part / 2 % 4 * 8);
  }

  __device__ __forceinline__ void store_f32(const float (&values)[kCount], long long first,
                                            long long column) const {
    constexpr int kAtOnce = 4;
    constexpr int kWarps = kWarpgroupThreads / 32;
    auto* const sums = reinterpret_cast<float*>(memory);
    meet();  // the part before has been read
    ROOFTILE_UNROLL for (int i = 0; i < kCount; ++i) {
      const FragmentElement at = wgmma_accumulator(thread, i);
      sums[place(at.column, at.row)] = values[i];
    }
    meet();
    const int pair = thread % 32;
    if (column + 2 * pair >= out.n) return;
    const ColumnPair columns(out, column + 2 * pair);
    ROOFTILE_NO_UNROLL for (int r = thread / 32; r < Tile::kOfPart; r += kAtOnce * kWarps) {
      float some[2 * kAtOnce];
      ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
        // Rows that the part lacks are stored nowhere.
        const int in_part = r + i * kWarps < Tile::kOfPart ? r + i * kWarps : r;
        const float2 two = *reinterpret_cast<const float2*>(sums + place(in_part, 2 * pair));
        some[2 * i] = two.x;
        some[2 * i + 1] = two.y;
      }
      const long long end = first + Tile::kOfPart < out.m ? first + Tile::kOfPart : out.m;
      columns.finish_and_store<kAtOnce>(out, first + r, kWarps, end, some);
    }
  }
};

#endif

}  // namespace rooftile::ops::gemm
