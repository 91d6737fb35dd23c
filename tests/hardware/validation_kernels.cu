// SPDX-License-Identifier: Apache-2.0
// Kernels that a real GPU and the simulated one both run, so that results and counters can be laid
// side by side: one access pattern, one instruction or one kind of arithmetic each.
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/ldmatrix.h"
#include "rooftile/tile/ptx/mma.h"
#include "rooftile/tile/ptx/wgmma.h"
#include "rooftile/tile/unroll.h"

#if ROOFTILE_DEVICE_CODE
using namespace rooftile;

namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ long long global_thread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace

/// An element a thread, from `shift` elements on; threads beyond the end do nothing.
template <class T>
__global__ void copy(T* out, const T* in, long long n, int shift) {
  const long long i = global_thread() + shift;
  if (i < n) out[i] = in[i];
}

__global__ void read_strided(float* out, const float* in, long long n, int stride) {
  const long long i = global_thread();
  if (i < n) out[i] = in[i * stride % n];
}

__global__ void gather(float* out, const float* in, const unsigned* index, long long n) {
  const long long i = global_thread();
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(float* out, const float* in, const unsigned* index, long long n) {
  const long long i = global_thread();
  if (i < n) out[index[i]] = in[i];
}

/// Every third thread: requests of few lanes.
__global__ void masked(float* out, const float* in, long long n) {
  const long long i = global_thread();
  if (i < n && i % 3 == 0) out[i] = in[i] * 2.0F;
}

enum class Tile { plain, padded, swizzled };

/// 32 x 32 tiles of a square matrix.
template <Tile kTile>
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][kTile == Tile::padded ? 33 : 32];
  const int x = static_cast<int>(threadIdx.x);
  const auto column_of = [](int row, int column) {
    return kTile == Tile::swizzled ? column ^ row : column;
  };
  const int from = static_cast<int>(blockIdx.y) * 32;
  const int to = static_cast<int>(blockIdx.x) * 32;
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += static_cast<int>(blockDim.y))
    tile[y][column_of(y, x)] = in[static_cast<long long>(from + y) * n + to + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < 32; y += static_cast<int>(blockDim.y))
    out[static_cast<long long>(to + y) * n + from + x] = tile[x][column_of(x, y)];
}

/// Shared memory by accesses of a type, each thread `stride` of them from the next.
template <class T>
__global__ void through_shared(T* out, const T* in, int stride) {
  __shared__ T tile[kThreads * 4];
  const int t = static_cast<int>(threadIdx.x);
  const long long first = static_cast<long long>(blockIdx.x) * kThreads;
  const int at = t * stride % (kThreads * 4);
  tile[at + t * stride / (kThreads * 4)] = in[first + t];
  __syncthreads();
  out[first + t] = tile[at + t * stride / (kThreads * 4)];
}

/// Counts of bytes, in shared memory and then in global memory.
__global__ void histogram(unsigned* bins, const unsigned char* in, long long n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = global_thread(); i < n; i += step) atomicAdd(&local[in[i]], 1U);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

/// The sum of a row of 1024 by a warp.
__global__ void row_sums(float* out, const float* in) {
  const long long row = global_thread() / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
  for (int i = lane; i < 1024; i += 32) sum += in[row * 1024 + i];
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  if (lane == 0) out[row] = sum;
}

/// Sum, product, quotient, root, fused product and sum, and conversions of pairs, by their bits.
__global__ void arithmetic(unsigned* out, const float* a, const float* b, long long n) {
  const long long i = global_thread();
  if (i >= n) return;
  const float x = a[i];
  const float y = b[i];
  out[i] = __float_as_uint(x + y);
  out[n + i] = __float_as_uint(x * y);
  out[2 * n + i] = __float_as_uint(x / y);
  out[3 * n + i] = __float_as_uint(sqrtf(fabsf(x)));
  out[4 * n + i] = __float_as_uint(fmaf(x, y, x));
  out[5 * n + i] = tile::bf16_bits(x) | static_cast<unsigned>(tile::fp16_bits(y)) << 16;
}

/// 64 x 64 sums over `steps` times 128 bytes of k, of rows of that length, in swizzled shared
/// memory.
template <class A, class B, class D>
__global__ void __launch_bounds__(128)
    multiply(typename MatrixElement<D>::Register* out, const uint4* a, const uint4* b, int steps) {
  using Mma = Wgmma<A, B, D, 64>;
  __shared__ __align__(1024) unsigned char tiles[2][64 * 128];
  const int thread = static_cast<int>(threadIdx.x);
  typename Mma::Register sum[Mma::kRegisters];
  ROOFTILE_UNROLL for (int i = 0; i < Mma::kRegisters; ++i) sum[i] = 0;
  for (int step = 0; step < steps; ++step) {
    for (int chunk = thread; chunk < 512; chunk += 128) {
      const auto row = static_cast<uint32_t>(chunk / 8);
      const uint32_t at = swizzled(Swizzle::bytes128, row, static_cast<uint32_t>(chunk % 8 * 16));
      const int from = (static_cast<int>(row) * steps + step) * 8 + chunk % 8;
      *reinterpret_cast<uint4*>(tiles[0] + at) = a[from];
      *reinterpret_cast<uint4*>(tiles[1] + at) = b[from];
    }
    fence_proxy_async_shared();
    __syncthreads();
    const uint64_t of_a = wgmma_descriptor(tiles[0], k_major_rows(Swizzle::bytes128));
    const uint64_t of_b = wgmma_descriptor(tiles[1], k_major_rows(Swizzle::bytes128));
    wgmma_fence(sum);
    ROOFTILE_UNROLL for (int j = 0; j < 4; ++j)
        Mma::ss(sum, advanced(of_a, 32 * j), advanced(of_b, 32 * j), true);
    wgmma_commit_group();
    wgmma_wait_group<0>(sum);
    __syncthreads();
  }
  for (int i = 0; i < Mma::kRegisters; ++i) out[thread * Mma::kRegisters + i] = sum[i];
}

/// A warp's 16 x 8 sums of bf16 over k, by ldmatrix and mma.sync.
__global__ void multiply_warp(float* out, const uint16_t* a, const uint16_t* b, int k) {
  __shared__ __align__(16) uint16_t tile_a[16][24];  // padded: rows of 48 bytes
  __shared__ __align__(16) uint16_t tile_b[8][24];
  const int lane = static_cast<int>(threadIdx.x);
  float sum[4] = {};
  for (int first = 0; first < k; first += 16) {
    for (int e = lane; e < 256; e += 32) tile_a[e / 16][e % 16] = a[e / 16 * k + first + e % 16];
    for (int e = lane; e < 128; e += 32) tile_b[e / 16][e % 16] = b[e / 16 * k + first + e % 16];
    __syncwarp();
    uint32_t of_a[4];
    uint32_t of_b[2];
    ldmatrix(of_a, &tile_a[lane % 16][lane / 16 * 8]);
    ldmatrix(of_b, &tile_b[lane % 8][lane / 8 % 2 * 8]);
    Mma<bf16, bf16, float, 16>::run(sum, of_a, of_b, sum);
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = sum[i];
}

#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(validation_kernels, ENTRY(copy<uint16_t>), ENTRY(copy<float>),
                      ENTRY(copy<float2>), ENTRY(copy<float4>), ENTRY(read_strided), ENTRY(gather),
                      ENTRY(scatter), ENTRY(masked), ENTRY(transpose<Tile::plain>),
                      ENTRY(transpose<Tile::padded>), ENTRY(transpose<Tile::swizzled>),
                      ENTRY(through_shared<float>), ENTRY(through_shared<float2>),
                      ENTRY(through_shared<float4>), ENTRY(histogram), ENTRY(row_sums),
                      ENTRY(arithmetic), ENTRY(multiply<bf16, bf16, float>),
                      ENTRY(multiply<fp16, fp16, float>), ENTRY(multiply<fp16, fp16, fp16>),
                      ENTRY(multiply<tf32, tf32, float>), ENTRY(multiply<e4m3, e4m3, float>),
                      ENTRY(multiply<e5m2, e4m3, float>), ENTRY(multiply<int8_t, int8_t, int32_t>),
                      ENTRY(multiply_warp))
