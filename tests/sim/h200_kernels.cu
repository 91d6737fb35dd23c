// SPDX-License-Identifier: Apache-2.0
// Kernels that ran on an H200 under Nsight Compute, built with -fmad=false: see h200_test.cc.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"

#if ROOFTILE_DEVICE_CODE
namespace {

__global__ void copy_coalesced(const float* in, float* out, int n) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    out[i] = in[i];
}

__global__ void copy_vec4(const float4* in, float4* out, int n4) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n4;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    const float4 v = in[i];
    out[i] = v;
  }
}

// n is a power of two.
__global__ void copy_strided(const float* in, float* out, int n, int stride) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const long long j = static_cast<long long>(i) * stride;
  out[i] = in[static_cast<int>(j & (n - 1)) + static_cast<int>(j / n)];
}

template <int kPad>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPad];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  int x = static_cast<int>(blockIdx.x) * 32 + tx;
  int y = static_cast<int>(blockIdx.y) * 32 + ty;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * n + x];
  __syncthreads();
  x = static_cast<int>(blockIdx.y) * 32 + tx;
  y = static_cast<int>(blockIdx.x) * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[tx][ty + j];
}

__device__ float block_sum(float v) {
  __shared__ float sums[32];
  const unsigned lane = threadIdx.x % 32;
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  if (lane == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? sums[lane] : 0.0f;
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

template <int kThreads, int kColumns>
__global__ void __launch_bounds__(kThreads)
    rmsnorm(const float* x, const float* w, float* y, float eps) {
  constexpr int kEach = kColumns / 4 / kThreads;
  const auto* const row =
      reinterpret_cast<const float4*>(x + static_cast<size_t>(blockIdx.x) * kColumns);
  auto* const out = reinterpret_cast<float4*>(y + static_cast<size_t>(blockIdx.x) * kColumns);
  const auto* const weights = reinterpret_cast<const float4*>(w);
  float4 v[kEach];
  float s = 0;
  for (int i = 0; i < kEach; ++i) {
    v[i] = row[threadIdx.x + static_cast<unsigned>(i * kThreads)];
    s = fmaf(v[i].x, v[i].x, s);
    s = fmaf(v[i].y, v[i].y, s);
    s = fmaf(v[i].z, v[i].z, s);
    s = fmaf(v[i].w, v[i].w, s);
  }
  s = block_sum(s);
  const float r = 1.0f / sqrtf(s * (1.0f / kColumns) + eps);
  for (int i = 0; i < kEach; ++i) {
    const float4 g = weights[threadIdx.x + static_cast<unsigned>(i * kThreads)];
    float4 o;
    o.x = v[i].x * r * g.x;
    o.y = v[i].y * r * g.y;
    o.z = v[i].z * r * g.z;
    o.w = v[i].w * r * g.w;
    out[threadIdx.x + static_cast<unsigned>(i * kThreads)] = o;
  }
}

}  // namespace
#endif

ROOFTILE_KERNEL_TABLE(h200_kernels, ROOFTILE_KERNEL_ENTRY(copy_coalesced),
                      ROOFTILE_KERNEL_ENTRY(copy_vec4), ROOFTILE_KERNEL_ENTRY(copy_strided),
                      ROOFTILE_KERNEL_ENTRY(transpose<0>), ROOFTILE_KERNEL_ENTRY(transpose<1>),
                      ROOFTILE_KERNEL_ENTRY(rmsnorm<256, 4096>))
