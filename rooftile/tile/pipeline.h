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

/// In shared memory, at the same place in all blocks of a cluster.
template <int kStages>
struct Pipeline {
  Mbarrier full[kStages];
  Mbarrier empty[kStages];

  /// By one thread; then a barrier of the block, of the cluster where it has several blocks.
  /// `consumers`: warpgroups that release() a stage, of all blocks that its producer fills.
  __device__ __forceinline__ void init(int consumers) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], static_cast<uint32_t>(consumers));
    }
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

  /// All threads of a consumer: it has read the stage, which each of the cluster's `blocks` fills.
  __device__ __forceinline__ void release(int stage, int thread, int blocks) {
    if (blocks == 1) {
      if (thread == 0) mbarrier_arrive(&empty[stage]);
    } else if (thread < blocks) {
      mbarrier_arrive_remote(map_shared(&empty[stage], static_cast<uint32_t>(thread)));
    }
  }
};

}  // namespace tile
}  // namespace rooftile
