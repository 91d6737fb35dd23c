// SPDX-License-Identifier: Apache-2.0
// Fences between threads and between proxies. Asynchronous copies and wgmma access memory through
// the asynchronous proxy: what ordinary stores wrote must pass fence_proxy_async() first. Source:
// PTX ISA, "membar/fence" and "Memory Consistency Model: Proxies".
#pragma once

#include "rooftile/tile/language.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// fence.proxy.async: of shared and of global memory.
__device__ __forceinline__ void fence_proxy_async() {
#ifdef __CUDACC__
  asm volatile("fence.proxy.async;" ::: "memory");
#else
  sim::fence_proxy_async(true, true);
#endif
}

/// fence.proxy.async.shared::cta: of this block's shared memory.
__device__ __forceinline__ void fence_proxy_async_shared() {
#ifdef __CUDACC__
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  sim::fence_proxy_async(true, false);
#endif
}

/// fence.proxy.async.global
__device__ __forceinline__ void fence_proxy_async_global() {
#ifdef __CUDACC__
  asm volatile("fence.proxy.async.global;" ::: "memory");
#else
  sim::fence_proxy_async(false, true);
#endif
}

/// fence.acq_rel.cta
__device__ __forceinline__ void fence_block() {
#ifdef __CUDACC__
  asm volatile("fence.acq_rel.cta;" ::: "memory");
#else
  sim::fence(sim::Scope::block);
#endif
}

/// fence.acq_rel.cluster
__device__ __forceinline__ void fence_cluster() {
#ifdef __CUDACC__
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#else
  sim::fence(sim::Scope::cluster);
#endif
}

/// fence.acq_rel.gpu
__device__ __forceinline__ void fence_device() {
#ifdef __CUDACC__
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  sim::fence(sim::Scope::device);
#endif
}

/// fence.acq_rel.sys
__device__ __forceinline__ void fence_system() {
#ifdef __CUDACC__
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  sim::fence(sim::Scope::system);
#endif
}

}  // namespace rooftile
