// SPDX-License-Identifier: Apache-2.0
// The cluster that a block belongs to: its place in it, the barrier of all its threads, and the
// shared memory of its blocks. Source: PTX ISA, "Special Registers: %cluster_ctarank",
// "barrier.cluster", "mapa".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// %cluster_ctaid: this block's coordinates in the cluster.
__device__ __forceinline__ dim3 cluster_block() {
#ifdef __CUDACC__
  dim3 at;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(at.x));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(at.y));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(at.z));
  return at;
#else
  const sim::Coordinates at = sim::coordinates<offsetof(sim::FiberContext, cluster_block)>();
  return {at.x, at.y, at.z};
#endif
}

/// %cluster_nctaid: blocks of the cluster.
__device__ __forceinline__ dim3 cluster_dim() {
#ifdef __CUDACC__
  dim3 extent;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(extent.x));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(extent.y));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(extent.z));
  return extent;
#else
  const sim::Coordinates extent = sim::coordinates<offsetof(sim::FiberContext, cluster_dim)>();
  return {extent.x, extent.y, extent.z};
#endif
}

/// %cluster_ctarank: this block's number in the cluster.
__device__ __forceinline__ uint32_t cluster_rank() {
#ifdef __CUDACC__
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  const dim3 at = cluster_block();
  const dim3 extent = cluster_dim();
  return at.x + extent.x * (at.y + extent.y * at.z);
#endif
}

/// barrier.cluster.arrive.release
__device__ __forceinline__ void cluster_arrive() {
#ifdef __CUDACC__
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  sim::cluster_arrive(true);
#endif
}

/// barrier.cluster.arrive.relaxed: nothing that this thread wrote need be seen by those that wait,
/// which spares a fence of the whole GPU: for a block that only stays until others have read it.
__device__ __forceinline__ void cluster_arrive_relaxed() {
#ifdef __CUDACC__
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  sim::cluster_arrive(false);
#endif
}

/// barrier.cluster.wait.acquire
__device__ __forceinline__ void cluster_wait() {
#ifdef __CUDACC__
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  sim::cluster_wait();
#endif
}

__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

/// Returns when all threads of the cluster are here; orders no memory.
__device__ __forceinline__ void cluster_meet() {
  cluster_arrive_relaxed();
  cluster_wait();
}

/// mapa: the same variable in the shared memory of block `rank` of the cluster. Plain loads and
/// stores through the pointer work while that block runs.
template <class T>
__device__ __forceinline__ T* map_shared(T* pointer, uint32_t rank) {
#ifdef __CUDACC__
  uint64_t mapped;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(pointer), "r"(rank));
  return reinterpret_cast<T*>(mapped);
#else
  return static_cast<T*>(sim::map_shared(pointer, rank));
#endif
}

}  // namespace rooftile
