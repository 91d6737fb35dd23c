// SPDX-License-Identifier: Apache-2.0
// Barriers 0 to 15 of a block, for some of its warps. Barrier 0 is that of __syncthreads().
// Source: PTX ISA, "bar, barrier".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// bar.sync: waits until `threads` have come, a multiple of 32.
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
#ifdef __CUDACC__
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::named_barrier_sync(id, threads);
#endif
}

/// bar.arrive: counts as having come, and goes on.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
#ifdef __CUDACC__
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
  sim::named_barrier_arrive(id, threads);
#endif
}

}  // namespace rooftile
