// SPDX-License-Identifier: Apache-2.0
// What kernels may write of CUDA C++ beside instructions, and what of it is refused by name.
#include <assert.h>

#include "language_parameters.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"

#if ROOFTILE_DEVICE_CODE
namespace {

using namespace rooftile::language_test;

__global__ void __launch_bounds__(96, 2) bounded(float* out) { out[threadIdx.x] = 1; }
template <int kWarps>
__global__ __launch_bounds__(kWarps * 32) void bounded_warps(float* out) {
  out[threadIdx.x] = kWarps;
}
__global__ void unbounded(float* out) { out[threadIdx.x] = 1; }

__global__ void structs(const Table table, char a, const __grid_constant__ Wide wide, short b) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < table.count)
    table.out[i] = table.in[i] * static_cast<float>(table.scale[i % kScales]) +
                   static_cast<float>(wide.offset[i % 32] + a + b + table.last);
}
__global__ void large(const Large numbers, long long* out) {
  out[threadIdx.x] = numbers.value[threadIdx.x * (kLargeCount / blockDim.x)];
}

// 0: a barrier before the copy is read. 1: none. 2: one word more than there is.
template <int kFault>
__global__ void copy_bytes(const float* in, float* out, int count) {
  __shared__ float tile[kCopied];
  if (threadIdx.x == 0) memcpy(tile, in, sizeof(float) * (count + (kFault == 2 ? 1 : 0)));
  if (kFault != 1) __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
template <int kFault>
__global__ void set_bytes(float* out) {
  __shared__ float tile[kCopied];
  if (threadIdx.x == 0) memset(tile, 0, sizeof(tile));
  if (kFault != 1) __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
// What memcpy is for: no address of these is a multiple of 4.
__global__ void unaligned(const char* in, float* out) {
  float value = 0;
  memcpy(&value, in + 1 + 4 * threadIdx.x, sizeof(value));
  out[threadIdx.x] = value;
}

// Overloads and headers lead to the host's functions by other names.
__global__ void exponential(const float* in, float* out) { out[0] = exp(in[0]); }
__global__ void sine(const double* in, double* out) { out[0] = std::sin(in[0]); }
__global__ void power(const float* in, float* out) { out[0] = std::pow(in[0], 1.5f); }
__global__ void zeros(const float* in, float* out) {
  out[0] = std::fmin(in[0], in[1]);
  out[1] = std::fmax(in[1], in[0]);
}
__global__ void divide(const int* in, int* out) { out[0] = in[0] / in[1]; }
__global__ void asserts(const int* in, int* out) {
  assert(in[0] == 1);
  out[0] = in[0];
}

__device__ int counter;
__constant__ float weights[4] = {1, 2, 3, 4};
__global__ void device_variable(int* out) { out[0] = atomicAdd(&counter, 1); }
__global__ void constant_variable(float* out) { out[threadIdx.x] = weights[threadIdx.x % 4]; }

// Times of a block are counted to 2^20.
__global__ void many_barriers(float* out, int count) {
  __shared__ float turn;
  for (int i = 0; i < count; ++i) {
    if (threadIdx.x == 0) turn = static_cast<float>(i);
    __syncthreads();
    out[threadIdx.x] = turn;
    __syncthreads();
  }
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(language_kernels, ENTRY(bounded), ENTRY(bounded_warps<4>), ENTRY(unbounded),
                      ENTRY(structs), ENTRY(large), ENTRY(copy_bytes<0>), ENTRY(copy_bytes<1>),
                      ENTRY(copy_bytes<2>), ENTRY(set_bytes<0>), ENTRY(set_bytes<1>),
                      ENTRY(unaligned), ENTRY(exponential), ENTRY(sine), ENTRY(power), ENTRY(zeros),
                      ENTRY(divide), ENTRY(asserts), ENTRY(device_variable),
                      ENTRY(constant_variable), ENTRY(many_barriers))
