// SPDX-License-Identifier: Apache-2.0
// Ordinary stores, and asynchronous copies of what they wrote: which proxy fences lie between.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/bulk_copy.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/bulk_reduce.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/named_barrier.h"
#include "rooftile/tile/ptx/strong.h"

#if ROOFTILE_DEVICE_CODE
namespace {

using namespace rooftile;

constexpr int kNumbers = 64;
constexpr uint32_t kBytes = kNumbers * sizeof(int);

enum class Fence { none, shared, global, all };

template <Fence kFence>
__device__ void proxy_fence() {
  if (kFence == Fence::shared) fence_proxy_async_shared();
  if (kFence == Fence::global) fence_proxy_async_global();
  if (kFence == Fence::all) fence_proxy_async();
}

/// Copies the data into shared memory, by one thread.
__device__ void load(int* to, const int* data, Mbarrier* full) {
  mbarrier_init(full, 1);
  fence_mbarrier_init();
  mbarrier_arrive_expect_tx(full, kBytes);
  bulk_load(to, data, kBytes, full);
  mbarrier_wait(full, 0);
}

__device__ void store(int* out, const int* from) {
  bulk_store(out, from, kBytes);
  bulk_commit();
  bulk_wait<0>();
}

/// All threads write, one copies.
template <Fence kFence>
__global__ void copy_from_shared(int*, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
  proxy_fence<kFence>();
  __syncthreads();
  if (threadIdx.x == 0) store(out, numbers);
}

template <Fence kFence>
__global__ void copy_from_global(int* data, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  __shared__ Mbarrier full;
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
  proxy_fence<kFence>();
  __syncthreads();
  if (threadIdx.x == 0) load(numbers, data, &full);
  __syncthreads();
  out[threadIdx.x] = numbers[threadIdx.x];
}

/// Of all threads; a named one orders them one by one, not all at once.
template <bool kNamed>
__device__ void barrier() {
  if (kNamed)
    named_barrier_sync(1, kNumbers);
  else
    __syncthreads();
}

/// Each round's copy overwrites what all threads have read, and where `kWrites`, written.
template <bool kWrites, Fence kFence>
__global__ void overwrite_shared(int* data, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
  }
  int sum = 0;
  for (uint32_t round = 0; round < 2; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, kBytes);
      bulk_load(numbers, data, kBytes, &full);
    }
    mbarrier_wait(&full, round);
    sum += numbers[threadIdx.x];
    if (kWrites) numbers[threadIdx.x] = sum;
    proxy_fence<kFence>();
  }
  out[threadIdx.x] = sum;
}

template <Fence kFence>
__global__ void overwrite_global(int* data, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  numbers[threadIdx.x] = 1;
  out[threadIdx.x] = data[threadIdx.x];
  fence_proxy_async_shared();
  proxy_fence<kFence>();
  __syncthreads();
  if (threadIdx.x != 0) return;
  bulk_reduce_add(out, numbers, kBytes);
  bulk_commit();
  bulk_wait<0>();
}

enum class By { nobody, writers_late, issuer, another, issuer_early };

/// Who fences, where no writer does before the barrier.
template <By kBy, bool kNamed>
__global__ void fenced_by(int*, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  const unsigned t = threadIdx.x;
  if (kBy == By::issuer_early && t == 0) fence_proxy_async();
  if (t != 0) numbers[t] = static_cast<int>(t);
  if (t == 1) numbers[0] = 0;
  barrier<kNamed>();
  if ((kBy == By::issuer && t == 0) || (kBy == By::another && t == 32)) fence_proxy_async_shared();
  if (kBy == By::another) barrier<kNamed>();
  if (t == 0) store(out, numbers);
  if (kBy == By::writers_late) fence_proxy_async_shared();
}

/// The first block writes, the second copies. `kEarly`: the second has fenced before.
template <Fence kWriter, bool kEarly, Fence kReader>
__global__ void of_other_block(int* data, int* out, unsigned* flag) {
  __shared__ __align__(16) int numbers[kNumbers];
  __shared__ Mbarrier full;
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x);
    proxy_fence<kWriter>();
    __syncthreads();
    if (threadIdx.x == 0) store_release(flag, 1U);
    return;
  }
  if (threadIdx.x == 0) {
    if (kEarly) fence_proxy_async();
    while (load_acquire(flag) == 0) {
    }
    proxy_fence<kReader>();
    load(numbers, data, &full);
  }
  __syncthreads();
  out[threadIdx.x] = numbers[threadIdx.x];
}

/// The same with fences and a relaxed count: of all writers, before their barrier.
template <Fence kWriter>
__global__ void counted(int* data, int* out, unsigned* count) {
  __shared__ __align__(16) int numbers[kNumbers];
  __shared__ Mbarrier full;
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x);
    proxy_fence<kWriter>();
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(count, 1U);
    return;
  }
  if (threadIdx.x == 0) {
    while (load_relaxed(count) == 0) {
    }
    __threadfence();
    load(numbers, data, &full);
  }
  __syncthreads();
  out[threadIdx.x] = numbers[threadIdx.x];
}

/// A block of the cluster writes the other's shared memory, which that one copies.
template <Fence kWriter, Fence kEarly, Fence kOwner>
__global__ void written_by_peer(int*, int* out, unsigned*) {
  __shared__ __align__(16) int numbers[kNumbers];
  proxy_fence<kEarly>();
  cluster_sync();
  if (cluster_rank() == 0) map_shared(numbers, 1)[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (cluster_rank() == 0) proxy_fence<kWriter>();
  cluster_sync();
  if (cluster_rank() == 1 && threadIdx.x == 0) {
    proxy_fence<kOwner>();
    store(out, numbers);
  }
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
#define SPACES(kernel)                                                                    \
  ENTRY(kernel<Fence::none>), ENTRY(kernel<Fence::shared>), ENTRY(kernel<Fence::global>), \
      ENTRY(kernel<Fence::all>)
#define BY(who) ENTRY(fenced_by<By::who, false>), ENTRY(fenced_by<By::who, true>)
#define OTHER(writer, early, reader) ENTRY(of_other_block<Fence::writer, early, Fence::reader>)
#define PEER(writer, early, owner) ENTRY(written_by_peer<Fence::writer, Fence::early, Fence::owner>)
ROOFTILE_KERNEL_TABLE(proxy_kernels, SPACES(copy_from_shared), SPACES(copy_from_global),
                      SPACES(overwrite_global), ENTRY(overwrite_shared<false, Fence::none>),
                      ENTRY(overwrite_shared<true, Fence::none>),
                      ENTRY(overwrite_shared<true, Fence::shared>), BY(nobody), BY(writers_late),
                      BY(issuer), BY(another), BY(issuer_early), OTHER(none, false, none),
                      OTHER(none, true, none), OTHER(global, false, none),
                      OTHER(none, false, global), OTHER(shared, true, shared),
                      ENTRY(counted<Fence::none>), ENTRY(counted<Fence::global>),
                      PEER(none, none, none), PEER(none, all, none), PEER(all, none, none),
                      PEER(none, none, shared))
