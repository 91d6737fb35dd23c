// SPDX-License-Identifier: Apache-2.0
// Messages through memory: a thread writes data and then a flag; another waits for the flag and
// reads the data. What lies between decides whether it must see them.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/strong.h"

#if ROOFTILE_DEVICE_CODE
namespace {

using namespace rooftile;

enum class Fence { none, block, cluster, device };

template <Fence kFence>
__device__ void fence() {
  if (kFence == Fence::block) fence_block();
  if (kFence == Fence::cluster) fence_cluster();
  if (kFence == Fence::device) fence_device();
}

// The writer is thread 0 of the grid, the reader a thread of another warp: of the same block, of
// the other block of the cluster, of the last block, as the grid has them.
__device__ bool is_writer() { return blockIdx.x == 0 && threadIdx.x == 0; }
__device__ bool is_reader() { return blockIdx.x == gridDim.x - 1 && threadIdx.x == 32; }

// Relaxed accesses of the flag with fences beside them.
template <Fence kWriter, Fence kReader, StrongScope kScope>
__global__ void relaxed(float* data, int* flag, float* out) {
  if (is_writer()) {
    *data = 42;
    fence<kWriter>();
    store_relaxed<kScope>(flag, 1);
  }
  if (is_reader()) {
    while (load_relaxed<kScope>(flag) == 0) {
    }
    fence<kReader>();
    *out = *data;
  }
}

template <StrongScope kWriter, StrongScope kReader>
__global__ void ordered(float* data, int* flag, float* out) {
  if (is_writer()) {
    *data = 42;
    store_release<kWriter>(flag, 1);
  }
  if (is_reader()) {
    while (load_acquire<kReader>(flag) == 0) {
    }
    *out = *data;
  }
}

template <Fence kWriter, Fence kReader>
__global__ void of_volatile(float* data, volatile int* flag, float* out) {
  if (is_writer()) {
    *data = 42;
    fence<kWriter>();
    *flag = 1;
  }
  if (is_reader()) {
    while (*flag == 0) {
    }
    fence<kReader>();
    *out = *data;
  }
}

// Another thread's flag comes between: an addition hands on what was released, a store does not.
// Why the second flag: the reader must not see the first as the writer left it.
template <bool kAdds>
__global__ void through_another(float* data, int* flag, float* out) {
  if (is_writer()) {
    *data = 42;
    __threadfence();
    store_relaxed(flag, 1);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (load_relaxed(flag) != 1) {
    }
    if (kAdds)
      atomicAdd(flag, 1);
    else
      store_relaxed(flag, 2);
    store_relaxed(flag + 32, 1);
  }
  if (is_reader()) {
    while (load_relaxed(flag + 32) == 0) {
    }
    if (load_relaxed(flag) != 2) __trap();
    __threadfence();
    *out = *data;
  }
}

// A fence makes known what its thread knows of others: the lanes' data go with one lane's flag.
// 1: that lane has not come to know of them.
template <int kFault>
__global__ void of_lanes(float* data, int* flag, float* out) {
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    data[threadIdx.x] = 42;
    if (kFault != 1) __syncwarp();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  }
  if (is_reader()) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += data[i];
    *out = sum;
  }
}

// A flag in shared memory. 1, 2: no fence of the writer, of the reader.
template <int kFault>
__global__ void shared_flag(float* out) {
  __shared__ float data;
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 42;
    if (kFault != 1) __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    if (kFault != 2) __threadfence_block();
    *out = data;
  }
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
#define OF(writer, reader, scope) ENTRY(relaxed<Fence::writer, Fence::reader, StrongScope::scope>)
ROOFTILE_KERNEL_TABLE(fence_kernels, OF(block, block, device), OF(cluster, cluster, device),
                      OF(device, device, device), OF(cluster, device, device),
                      OF(device, cluster, device), OF(device, block, device),
                      OF(device, device, cluster), OF(none, device, device),
                      OF(device, none, device),
                      ENTRY(ordered<StrongScope::device, StrongScope::device>),
                      ENTRY(ordered<StrongScope::cluster, StrongScope::cluster>),
                      ENTRY(ordered<StrongScope::cluster, StrongScope::device>),
                      ENTRY(ordered<StrongScope::device, StrongScope::cluster>),
                      ENTRY(of_volatile<Fence::device, Fence::device>),
                      ENTRY(of_volatile<Fence::none, Fence::device>),
                      ENTRY(of_volatile<Fence::device, Fence::none>), ENTRY(through_another<true>),
                      ENTRY(through_another<false>), ENTRY(of_lanes<0>), ENTRY(of_lanes<1>),
                      ENTRY(shared_flag<0>), ENTRY(shared_flag<1>), ENTRY(shared_flag<2>))
