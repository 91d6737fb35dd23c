// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory that count arrivals and bytes of asynchronous copies. A barrier is in
// phase 0, 1, 2, …; a phase is over when all arrivals and all expected bytes have come. Waiting
// names a phase by its parity: that of the current phase waits, that of the one before does not.
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/shared_address.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// In shared memory, for instance `__shared__ Mbarrier full[kStages];`
struct Mbarrier {
  uint64_t opaque;
};

/// mbarrier.init: phase 0, with `count` arrivals in each. One thread does it, then
/// fence_mbarrier_init(), then a barrier of all that use it.
__device__ __forceinline__ void mbarrier_init(Mbarrier* barrier, uint32_t count) {
#ifdef __CUDACC__
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
#else
  sim::mbarrier_init(barrier, count);
#endif
}

/// mbarrier.inval: the memory may be used for something else.
__device__ __forceinline__ void mbarrier_invalidate(Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#else
  sim::mbarrier_invalidate(barrier);
#endif
}

/// fence.mbarrier_init.release.cluster: this thread's mbarrier_init() become visible to the cluster
/// and to asynchronous copies.
__device__ __forceinline__ void fence_mbarrier_init() {
#ifdef __CUDACC__
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  sim::fence_mbarrier_init();
#endif
}

/// mbarrier.arrive, release: returns a token of the phase for mbarrier_try_wait_token().
__device__ __forceinline__ uint64_t mbarrier_arrive(Mbarrier* barrier, uint32_t count = 1) {
#ifdef __CUDACC__
  uint64_t token;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(shared_address(barrier)), "r"(count)
               : "memory");
  return token;
#else
  return sim::mbarrier_arrive(barrier, count, 0);
#endif
}

/// mbarrier.arrive.expect_tx: the phase waits for `bytes` more of asynchronous copies; arrives
/// once.
__device__ __forceinline__ uint64_t mbarrier_arrive_expect_tx(Mbarrier* barrier, uint32_t bytes) {
#ifdef __CUDACC__
  uint64_t token;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  return token;
#else
  return sim::mbarrier_arrive(barrier, 1, bytes);
#endif
}

/// mbarrier.expect_tx, relaxed: no arrival.
__device__ __forceinline__ void mbarrier_expect_tx(Mbarrier* barrier, uint32_t bytes) {
#ifdef __CUDACC__
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#else
  sim::mbarrier_expect(barrier, bytes, false);
#endif
}

/// mbarrier.arrive.release.cluster at a barrier of any block of the cluster: see map_shared().
__device__ __forceinline__ void mbarrier_arrive_cluster(Mbarrier* barrier, uint32_t count = 1) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(count)
               : "memory");
#else
  sim::mbarrier_arrive_cluster(barrier, count, 0, sim::Scope::cluster);
#endif
}

/// mbarrier.arrive at a barrier of any block of the cluster, with the scope of this block: this
/// thread has read what it reads. That its writes are seen by other blocks takes
/// mbarrier_arrive_cluster(), which waits for all of them (MEMBAR.GPU in SASS), far too long for
/// each step of a pipeline.
__device__ __forceinline__ void mbarrier_arrive_remote(Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#else
  sim::mbarrier_arrive_cluster(barrier, 1, 0, sim::Scope::block);
#endif
}

/// mbarrier.arrive.expect_tx.release.cluster at a barrier of any block of the cluster.
__device__ __forceinline__ void mbarrier_arrive_expect_tx_cluster(Mbarrier* barrier,
                                                                  uint32_t bytes) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
#else
  sim::mbarrier_arrive_cluster(barrier, 1, bytes, sim::Scope::cluster);
#endif
}

/// mbarrier.test_wait.parity, acquire: whether the phase of that parity is over.
__device__ __forceinline__ bool mbarrier_test_wait(Mbarrier* barrier, uint32_t parity) {
#ifdef __CUDACC__
  uint32_t done;
  asm volatile(
      "{\n .reg .pred p;\n mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      " selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
#else
  return sim::mbarrier_wait_parity(barrier, parity, false);
#endif
}

/// mbarrier.try_wait.parity, acquire: as mbarrier_test_wait(), but may wait for a while first.
__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier* barrier, uint32_t parity) {
#ifdef __CUDACC__
  uint32_t done;
  asm volatile(
      "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      " selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
#else
  return sim::mbarrier_wait_parity(barrier, parity, false);
#endif
}

/// mbarrier.try_wait with the token that an arrival returned.
__device__ __forceinline__ bool mbarrier_try_wait_token(Mbarrier* barrier, uint64_t token) {
#ifdef __CUDACC__
  uint32_t done;
  asm volatile(
      "{\n .reg .pred p;\n mbarrier.try_wait.shared::cta.b64 p, [%1], %2;\n"
      " selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "l"(token)
      : "memory");
  return done != 0;
#else
  return sim::mbarrier_wait_token(barrier, token, false);
#endif
}

/// mbarrier.try_wait.parity.acquire.cluster: also of what other blocks released.
__device__ __forceinline__ bool mbarrier_try_wait_cluster(Mbarrier* barrier, uint32_t parity) {
#ifdef __CUDACC__
  uint32_t done;
  asm volatile(
      "{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
      " selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
#else
  return sim::mbarrier_wait_parity(barrier, parity, false, sim::Scope::cluster);
#endif
}

/// Returns when the phase of that parity is over.
__device__ __forceinline__ void mbarrier_wait(Mbarrier* barrier, uint32_t parity) {
#ifdef __CUDACC__
  while (!mbarrier_try_wait(barrier, parity)) {
  }
#else
  sim::mbarrier_wait_parity(barrier, parity, true);
#endif
}

__device__ __forceinline__ void mbarrier_wait_token(Mbarrier* barrier, uint64_t token) {
#ifdef __CUDACC__
  while (!mbarrier_try_wait_token(barrier, token)) {
  }
#else
  sim::mbarrier_wait_token(barrier, token, true);
#endif
}

__device__ __forceinline__ void mbarrier_wait_cluster(Mbarrier* barrier, uint32_t parity) {
#ifdef __CUDACC__
  while (!mbarrier_try_wait_cluster(barrier, parity)) {
  }
#else
  sim::mbarrier_wait_parity(barrier, parity, true, sim::Scope::cluster);
#endif
}

}  // namespace rooftile
