// SPDX-License-Identifier: Apache-2.0
// A ring of stages in shared memory between one thread that fills them by TMA and the warpgroups
// that read them. A cluster's blocks may fill each other's stages: then a stage is empty when the
// consumers of all blocks are done with it. Source of the idea: NVIDIA CUTLASS, "Efficient GEMM in
// CUDA: pipelining" (PipelineTmaAsync).
//
//   full[s]   over when the producer's bytes have come     producer arrives with the count of bytes
//   empty[s]  over when every consumer is done             consumers arrive, one thread of each
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/mbarrier.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// Which stage is next, and the parity of its phase.
template <int kStages>
struct RingPosition {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// How a thread of a consumer releases a stage: at the barrier of its own block, of block `rank` of
/// the cluster, or not at all.
struct Releaser {
  static constexpr int kOwn = -1;
  static constexpr int kNone = -2;
  int rank = kNone;

  /// Of `thread` of its warpgroup. `blocks`: bits, the ranks of those that fill its stages; none:
  /// its own block.
  static __device__ __forceinline__ Releaser of(int thread, uint32_t blocks) {
    if (blocks == 0) return {thread == 0 ? kOwn : kNone};
    return {thread < 32 && (blocks >> thread & 1) != 0 ? thread : kNone};
  }
};

/// In shared memory, at the same place in all blocks of a cluster.
template <int kStages>
struct Pipeline {
  Mbarrier full[kStages];
  Mbarrier empty[kStages];

  /// By threads 0 to kStages - 1; then a barrier of the block, of the cluster where it has several
  /// blocks (cluster_meet() suffices). `consumers`: warpgroups that release() a stage, of all
  /// blocks that its producer fills.
  __device__ __forceinline__ void init(int thread, int consumers) {
    mbarrier_init(&full[thread], 1);
    mbarrier_init(&empty[thread], static_cast<uint32_t>(consumers));
    fence_mbarrier_init();
  }

  /// The producer: waits until the stage is empty, and expects `bytes` in it.
  __device__ __forceinline__ void acquire(RingPosition<kStages> at, uint32_t bytes) {
    mbarrier_wait(&empty[at.stage], at.parity ^ 1);
    mbarrier_arrive_expect_tx(&full[at.stage], bytes);
  }

  /// A consumer: waits until the stage is full.
  __device__ __forceinline__ void wait(RingPosition<kStages> at) {
    mbarrier_wait(&full[at.stage], at.parity);
  }

  /// All threads of a consumer: it has read the stage; of them one arrives in each block that
  /// fills it.
  __device__ __forceinline__ void release(int stage, Releaser releaser) {
    if (releaser.rank == Releaser::kOwn)
      mbarrier_arrive(&empty[stage]);
    else if (releaser.rank >= 0)
      mbarrier_arrive_remote(map_shared(&empty[stage], static_cast<uint32_t>(releaser.rank)));
  }
};

}  // namespace tile
}  // namespace rooftile
