// SPDX-License-Identifier: Apache-2.0
// Copies of 4, 8 or 16 bytes a thread from global to shared memory, that do not pass through
// registers. The thread waits by groups; others then need a barrier. Source: PTX ISA, "cp.async",
// "cp.async.commit_group", "cp.async.wait_group", "cp.async.mbarrier.arrive".
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/shared_address.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// cp.async.ca: kBytes, of which the first `source_bytes` are read and the others are zero.
template <int kBytes>
__device__ __forceinline__ void cp_async(void* destination, const void* source,
                                         uint32_t source_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#ifdef __CUDACC__
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(destination)),
               "l"(__cvta_generic_to_global(source)), "n"(kBytes), "r"(source_bytes)
               : "memory");
#else
  sim::cp_async(destination, source, kBytes, source_bytes);
#endif
}

/// cp.async.cg: 16 bytes that stay out of L1.
__device__ __forceinline__ void cp_async_cg(void* destination, const void* source,
                                            uint32_t source_bytes = 16) {
#ifdef __CUDACC__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)),
               "l"(__cvta_generic_to_global(source)), "r"(source_bytes)
               : "memory");
#else
  sim::cp_async(destination, source, 16, source_bytes);
#endif
}

/// cp.async.commit_group
__device__ __forceinline__ void cp_async_commit() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  sim::cp_async_commit();
#endif
}

/// cp.async.wait_group: until all but the last kPending groups of this thread are done.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#else
  sim::cp_async_wait(kPending, false);
#endif
}

/// cp.async.wait_all
__device__ __forceinline__ void cp_async_wait_all() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  sim::cp_async_wait(0, true);
#endif
}

/// cp.async.mbarrier.arrive: when this thread's copies so far are done, an arrival that comes on
/// top of those that the barrier waits for.
__device__ __forceinline__ void cp_async_arrive(Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#else
  sim::cp_async_arrive(barrier, false);
#endif
}

/// cp.async.mbarrier.arrive.noinc: one of the arrivals that the barrier waits for.
__device__ __forceinline__ void cp_async_arrive_noinc(Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#else
  sim::cp_async_arrive(barrier, true);
#endif
}

}  // namespace rooftile
