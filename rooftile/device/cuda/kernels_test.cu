// SPDX-License-Identifier: Apache-2.0
// Kernels for cuda_test.cc: one of each kind of launch.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#endif

namespace rooftile {

extern const KernelTable cuda_test_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = a * x[i] + y[i];
}

template <class T, int kTimes>
__global__ void multiply(T* x) {
  x[threadIdx.x] = static_cast<T>(x[threadIdx.x] * kTimes);
}

// y = x backwards, by way of `count` floats of dynamic shared memory.
__global__ void reverse(int count, const float* x, float* y) {
  ROOFTILE_DYNAMIC_SHARED(bytes);
  float* const tile = reinterpret_cast<float*>(bytes);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    tile[i] = x[i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    y[i] = tile[count - 1 - i];
}

// How many blocks each block's cluster has; the simulator's kernels ask rooftile/tile instead.
__global__ void cluster_blocks(unsigned* blocks) {
#ifdef __CUDACC__
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks[blockIdx.x]));
#else
  blocks[blockIdx.x] = 0;
#endif
}

// Follows a chain of indices, one dependent load after the other.
__global__ void chase(const int* next, int steps, int* end) {
  int at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];
  *end = at;
}

__global__ void __launch_bounds__(128) bounded(int* x) { x[threadIdx.x] = 1; }

// x = 3 x + 1, by a launch that may begin before the one ahead of it has ended.
__global__ void step(unsigned* x) {
  launch_dependents();
  wait_for_grid();
  x[threadIdx.x] = 3 * x[threadIdx.x] + 1;
}

__global__ void store_at(int* address) { *address = 1; }

}  // namespace

#endif

ROOFTILE_KERNEL_TABLE(cuda_test_kernels, ROOFTILE_KERNEL_ENTRY(saxpy),
                      ROOFTILE_KERNEL_ENTRY(multiply<float, 3>),
                      ROOFTILE_KERNEL_ENTRY(multiply<int, 5>), ROOFTILE_KERNEL_ENTRY(reverse),
                      ROOFTILE_KERNEL_ENTRY(cluster_blocks), ROOFTILE_KERNEL_ENTRY(chase),
                      ROOFTILE_KERNEL_ENTRY(bounded), ROOFTILE_KERNEL_ENTRY(step),
                      ROOFTILE_KERNEL_ENTRY(store_at))

}  // namespace rooftile
