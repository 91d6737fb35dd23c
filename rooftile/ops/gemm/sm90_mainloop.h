// SPDX-License-Identifier: Apache-2.0
// The inner loop of the warp-specialised kernels: one thread copies steps of kStepK columns of both
// operands by TMA into a ring of stages, consumer warpgroups multiply them with wgmma. Both
// operands of 16 bits, each k-major (k contiguous in memory) or mn-major. Sources of the ideas:
// NVIDIA CUTLASS, "Efficient GEMM in CUDA" (warp specialisation); P. Andersch and others, "Fast
// CUDA kernels for Hopper", 2024.
#pragma once

#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/tensor_map.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/pipeline.h"
#include "rooftile/tile/ptx/tma.h"
#include "rooftile/tile/ptx/wgmma.h"
#include "rooftile/tile/unroll.h"
#endif

namespace rooftile::ops::gemm {

constexpr int kStepK = 64;        // elements: a row of 128 bytes, one period of the swizzle
constexpr int kRowBytes = 128;    // of a tile in shared memory
constexpr int kAlignment = 1024;  // of a tile: the swizzle's pattern
constexpr int kWarpgroup = 128;

/// Bytes of shared memory of the ring: kRows of the left operand and kColumns of the right one in
/// each of a stage's kSteps steps.
template <int kRows, int kColumns, int kStages, int kSteps = 1>
struct Ring {
  static constexpr int kLeft = kRows * kRowBytes;
  static constexpr int kRight = kColumns * kRowBytes;
  static constexpr int kStep = kLeft + kRight;
  static constexpr int kStage = kSteps * kStep;
  static constexpr int kBytes = kStages * kStage;
};

#if ROOFTILE_DEVICE_CODE

/// The rows of an operand's tile that a block loads, and the blocks of its cluster that get them;
/// none: itself. Of blocks that share a tile each loads its part, for all.
struct Part {
  int first = 0;
  int rows = 0;
  uint32_t blocks = 0;
};

/// kExtent rows or columns of an operand, kStepK along k. mn-major: boxes of 64 columns.
template <Major kMajor, int kExtent>
struct OperandTile {
  static constexpr int kBoxColumns = 64;
  static constexpr int kBoxBytes = kBoxColumns * kStepK * 2;
  static constexpr WgmmaLayout kLayout = kMajor == Major::k
                                             ? k_major_rows(Swizzle::bytes128)
                                             : WgmmaLayout{Swizzle::bytes128, 1024, kBoxBytes, 0};
  static constexpr uint32_t kBytesOfK16 = kMajor == Major::k ? 32 : 16 * kRowBytes;

  /// `part` of the tile that begins at (first, k).
  static __device__ __forceinline__ void load(unsigned char* tile, const TensorMap* map,
                                              Mbarrier* full, int first, int k, Part part) {
    const auto load_box = [&](unsigned char* to, BoxAt<2> at) {
      if (part.blocks == 0)
        tma_load(to, map, full, at);
      else
        tma_load_multicast(to, map, full, static_cast<uint16_t>(part.blocks), at);
    };
    if constexpr (kMajor == Major::k) {
      load_box(tile + part.first * kRowBytes, box_at(k, first + part.first));
    } else {
      for (int row = part.first; row < part.first + part.rows; row += kBoxColumns)
        load_box(tile + row * kRowBytes, box_at(first + row, k));
    }
  }

  /// 64 rows or more from `row` on, a multiple of 64.
  static __device__ __forceinline__ uint64_t descriptor(const unsigned char* tile, int row) {
    return wgmma_descriptor(tile + row * kRowBytes, kLayout);
  }
};

/// What producer and consumers agree on; a consumer has 64 rows. kParts: how many matrices the
/// columns of the right operand come from, as many from each. kSteps: of a stage.
template <class T, Major kMajorLeft, Major kMajorRight, int kConsumers, int kColumns, int kStages,
          int kParts = 1, int kSteps = 1>
struct Mainloop {
  static constexpr int kRowsOfConsumer = 64;
  static constexpr int kRows = kConsumers * kRowsOfConsumer;
  using Shape = Ring<kRows, kColumns, kStages, kSteps>;
  using Left = OperandTile<kMajorLeft, kRows>;
  using Right = OperandTile<kMajorRight, kColumns / kParts>;
  using Mma = Wgmma<T, T, float, kColumns, kMajorLeft, kMajorRight>;
  using Sum = float[Mma::kRegisters];
  static_assert(kParts == 1 || kMajorRight == Major::k, "mn-major boxes are those of one matrix");
  using Stages = tile::Pipeline<kStages>;
  using Position = tile::RingPosition<kStages>;

  /// The producer's thread, which elect_sync() chose: around each copy of any other ptxas makes a
  /// loop over the lanes of the warp. Stages `first` to `last` of the tile at (row, column), from
  /// `start` on and then those before it. What lies beyond k is zero.
  static __device__ __forceinline__ void produce(unsigned char* ring, Stages& stages, Position& at,
                                                 const TensorMap* left,
                                                 const TensorMap* const (&right)[kParts], int row,
                                                 int column, int first, int last, int start,
                                                 Part of_left, Part of_right) {
    for (int count = first, next = start; count < last; ++count) {
      unsigned char* const stage = ring + at.stage * Shape::kStage;
      Mbarrier* const full = &stages.full[at.stage];
      stages.acquire(at, Shape::kStage);
      ROOFTILE_UNROLL for (int i = 0; i < kSteps; ++i) {
        unsigned char* const step = stage + i * Shape::kStep;
        const int k = (next * kSteps + i) * kStepK;
        Left::load(step, left, full, row, k, of_left);
        ROOFTILE_UNROLL for (int part = 0; part < kParts; ++part)
            Right::load(step + Shape::kLeft + part * (Shape::kRight / kParts), right[part], full,
                        column, k, of_right);
      }
      at.advance();
      if (++next == last) next = first;
    }
  }

  /// All threads of a consumer: sum = the product of `count` stages; the registers are ready after.
  /// Calls meanwhile(0) to meanwhile(kMeanwhile - 1), one in each while the matrix unit works: more
  /// at once would leave it idle, since a warp issues a wgmma only when the unit has taken the one
  /// before. `releaser`: as Pipeline's.
  template <int kMeanwhile, class Meanwhile>
  static __device__ __forceinline__ void consume(unsigned char* ring, Stages& stages, Position& at,
                                                 Sum& sum, int count, int consumer,
                                                 tile::Releaser releaser, Meanwhile meanwhile) {
    int previous = -1;
    const auto multiply = [&](bool is_first, auto after_issue) {
      stages.wait(at);
      const unsigned char* const stage = ring + at.stage * Shape::kStage;
      const uint64_t left = Left::descriptor(stage, consumer * kRowsOfConsumer);
      const uint64_t right = Right::descriptor(stage + Shape::kLeft, 0);
      wgmma_fence(sum);
      ROOFTILE_UNROLL for (int i = 0; i < kSteps; ++i)
          ROOFTILE_UNROLL for (int j = 0; j < kStepK / Mma::kK; ++j) Mma::ss(
              sum, advanced(left, i * Shape::kStep + j * Left::kBytesOfK16),
              advanced(right, i * Shape::kStep + j * Right::kBytesOfK16), !is_first || i + j != 0);
      wgmma_commit_group();
      after_issue();
      wgmma_wait_group<1>(sum);  // those of the stage before have read it
      if (previous >= 0) stages.release(previous, releaser);
      previous = at.stage;
      at.advance();
    };
    int done = 0;
    if (kMeanwhile > 0 && count >= kMeanwhile) {
      ROOFTILE_UNROLL for (int i = 0; i < kMeanwhile; ++i) multiply(i == 0, [&] { meanwhile(i); });
      done = kMeanwhile;
    } else {
      ROOFTILE_UNROLL for (int i = 0; i < kMeanwhile; ++i) meanwhile(i);
    }
    for (; done < count; ++done) multiply(done == 0, [] {});
    wgmma_wait_group<0>(sum);
    if (previous >= 0) stages.release(previous, releaser);
  }
};

#endif

}  // namespace rooftile::ops::gemm
