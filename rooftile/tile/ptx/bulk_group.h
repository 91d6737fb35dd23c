// SPDX-License-Identifier: Apache-2.0
// Groups of a thread's bulk copies out of shared memory, by which it waits for them.
// Source: PTX ISA, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
#pragma once

#include "rooftile/tile/language.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// cp.async.bulk.commit_group: closes the thread's open group.
__device__ __forceinline__ void bulk_commit() {
#ifdef __CUDACC__
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  sim::bulk_commit();
#endif
}

/// cp.async.bulk.wait_group: until all but the last kPending groups have written their results.
template <int kPending>
__device__ __forceinline__ void bulk_wait() {
#ifdef __CUDACC__
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
#else
  sim::bulk_wait(kPending, false);
#endif
}

/// cp.async.bulk.wait_group.read: until they have read their sources, which may then be
/// overwritten.
template <int kPending>
__device__ __forceinline__ void bulk_wait_read() {
#ifdef __CUDACC__
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#else
  sim::bulk_wait(kPending, true);
#endif
}

}  // namespace rooftile
