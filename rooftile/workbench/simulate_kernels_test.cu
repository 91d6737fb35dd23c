// SPDX-License-Identifier: Apache-2.0
// Kernels of the toy operation for the tests of simulate(): a good one, and ones with a known fault
// or waste.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"

namespace rooftile {

__global__ void toy_plain(float* y, const float* x, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = factor * x[i] + 1.0F;
}

// Neighbouring lanes are 32 floats apart, in memory and in shared memory.
__global__ void toy_scattered(float* y, const float* x, float factor, int count) {
  __shared__ float tile[1024];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int at = lane * 32 + warp;
  const int i = static_cast<int>(blockIdx.x) * 1024 + at;
  tile[at] = i < count ? x[i] : 0.0F;
  __syncthreads();
  if (i < count) y[i] = factor * tile[at] + 1.0F;
}

__global__ void toy_beyond(float* y, const float* x, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= count) y[i] = factor * x[i] + 1.0F;
}

}  // namespace rooftile
#endif

namespace rooftile {
ROOFTILE_KERNEL_TABLE(simulate_kernels, ROOFTILE_KERNEL_ENTRY(toy_plain),
                      ROOFTILE_KERNEL_ENTRY(toy_scattered), ROOFTILE_KERNEL_ENTRY(toy_beyond))
}
