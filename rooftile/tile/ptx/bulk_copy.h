// SPDX-License-Identifier: Apache-2.0
// Copies of bytes by the asynchronous engine. Addresses and sizes are multiples of 16 bytes. One
// thread issues a copy; loads count their bytes on an mbarrier, stores belong to bulk groups
// (bulk_group.h). Source: PTX ISA, "cp.async.bulk", "cp.async.bulk.prefetch", "st.async".
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cache_hint.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/shared_address.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// cp.async.bulk, global to shared memory.
__device__ __forceinline__ void bulk_load(void* destination, const void* source, uint32_t bytes,
                                          Mbarrier* barrier,
                                          CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier)), "l"(hint)
      : "memory");
#else
  (void)hint;
  sim::bulk_load(destination, source, bytes, barrier, 0);
#endif
}

/// With .multicast::cluster: into each block of the cluster whose bit is set in `blocks`.
__device__ __forceinline__ void bulk_load_multicast(void* destination, const void* source,
                                                    uint32_t bytes, Mbarrier* barrier,
                                                    uint16_t blocks,
                                                    CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier)), "h"(blocks),
      "l"(hint)
      : "memory");
#else
  (void)hint;
  sim::bulk_load(destination, source, bytes, barrier, blocks);
#endif
}

/// cp.async.bulk, shared to global memory, in this thread's open bulk group.
__device__ __forceinline__ void bulk_store(void* destination, const void* source, uint32_t bytes,
                                           CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
          __cvta_generic_to_global(destination)),
      "r"(shared_address(source)), "r"(bytes), "l"(hint)
      : "memory");
#else
  (void)hint;
  sim::bulk_store(destination, source, bytes);
#endif
}

/// cp.async.bulk, from this block's shared memory to that of any block of the cluster; `barrier` is
/// of the block that `destination` belongs to (map_shared()).
__device__ __forceinline__ void bulk_copy_cluster(void* destination, const void* source,
                                                  uint32_t bytes, Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(destination)),
      "r"(shared_address(source)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
#else
  sim::bulk_copy_cluster(destination, source, bytes, barrier);
#endif
}

/// cp.async.bulk.prefetch.L2
__device__ __forceinline__ void bulk_prefetch(const void* source, uint32_t bytes) {
#ifdef __CUDACC__
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(source)),
               "r"(bytes)
               : "memory");
#else
  sim::bulk_prefetch(source, bytes);
#endif
}

/// st.async.shared::cluster.b32: a register to the shared memory of any block of the cluster,
/// counted as 4 bytes on `barrier` of that block.
__device__ __forceinline__ void store_async(uint32_t* destination, uint32_t value,
                                            Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   shared_address(destination)),
               "r"(value), "r"(shared_address(barrier))
               : "memory");
#else
  sim::store_async(destination, &value, 4, barrier);
#endif
}

/// st.async with .v4: 16 bytes.
__device__ __forceinline__ void store_async(uint4* destination, uint4 value, Mbarrier* barrier) {
#ifdef __CUDACC__
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::
          "r"(shared_address(destination)),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(shared_address(barrier))
      : "memory");
#else
  sim::store_async(destination, &value, 16, barrier);
#endif
}

}  // namespace rooftile
