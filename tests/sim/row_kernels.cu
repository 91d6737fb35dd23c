// SPDX-License-Identifier: Apache-2.0
// Warps of which each lane accesses the next 16 bytes of global memory: what is right, and what is
// a race of some lanes alone.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/strong.h"

#if ROOFTILE_DEVICE_CODE
namespace {

using rooftile::cluster_sync;
using rooftile::load_relaxed;

__device__ inline float4 plus_one(float4 value) {
  return make_float4(value.x + 1, value.y, value.z, value.w);
}

// Reads what it wrote, at several times. 1: the other warp of the block reads it too soon.
template <int kFault>
__global__ void own_rows(float4* rows) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  rows[at] = plus_one(rows[at]);
  rows[at] = plus_one(rows[at]);
  if (kFault != 1) __syncthreads();
  rows[at].y = rows[at ^ 32].x;
}

// The first warp writes, the second reads what it wrote. 1: no barrier; 2: none before the first
// writes again.
template <int kFault>
__global__ void hand_over(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  const bool is_first = threadIdx.x < 32;
  if (is_first) rows[lane] = make_float4(1, 2, 3, 4);
  if (kFault != 1) __syncthreads();
  float4 read{};
  if (!is_first) read = rows[lane];
  if (kFault != 2) __syncthreads();
  if (is_first)
    rows[lane] = make_float4(4, 3, 2, 1);
  else
    rows[32 + lane] = read;
}

// All blocks, of a warp each, read a row behind those of all. 1: the last then writes a part of it;
// 2: of what only the first has read.
template <int kFault>
__global__ void read_by_all(float4* rows) {
  const unsigned lane = threadIdx.x;
  float4* const all = rows + gridDim.x * 32;
  const bool is_last = blockIdx.x + 1 == gridDim.x;
  if (kFault != 2 || blockIdx.x == 0 || lane < 16) rows[blockIdx.x * 32 + lane] = all[lane];
  if (kFault == 1 && is_last && lane == 3) all[3] = make_float4(1, 2, 3, 4);
  if (kFault == 2 && is_last && lane == 20) all[20] = make_float4(1, 2, 3, 4);
}

// Two blocks of a cluster read a row, of which the first reads the lower half only: the second
// writes what it alone has read, and the first what both have, when both have. 1: without waiting.
template <int kFault>
__global__ void read_in_cluster(float4* rows) {
  const unsigned lane = threadIdx.x;
  const bool is_first = blockIdx.x == 0;
  float4 read{};
  if (!is_first || lane < 16) read = rows[lane];
  __syncthreads();  // lets the other block run
  if (!is_first && lane >= 16) rows[lane] = read;
  if (kFault != 1) cluster_sync();
  if (is_first && lane < 16) rows[lane] = read;
}

// Both blocks read a row, and the first writes it. 1: without waiting.
template <int kFault>
__global__ void write_in_cluster(float4* rows) {
  const float4 read = rows[threadIdx.x];
  for (int i = 0; i < 64; ++i) __syncwarp();  // the other block runs meanwhile
  if (kFault != 1) cluster_sync();
  if (blockIdx.x == 0) rows[threadIdx.x] = plus_one(read);
}

// Both warps of a block read a row, and the first writes it. 1: no barrier.
template <int kFault>
__global__ void read_by_both(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  float4 read = rows[lane];
  if (kFault != 1) __syncthreads();
  if (threadIdx.x < 32) rows[lane] = plus_one(read);
  if (threadIdx.x >= 32) rows[threadIdx.x] = read;
}

// The first warp reads the lower half of a row while the second writes the upper half. 1: it reads
// one more.
template <int kFault>
__global__ void halves(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    if (lane < (kFault == 1 ? 17u : 16u)) rows[32 + lane] = rows[lane];
  } else if (lane >= 16) {
    rows[lane] = make_float4(1, 2, 3, 4);
  }
}

// All lanes of the first warp read a row before the barrier, and its first lane again behind it,
// while the second warp writes the others' bytes. 1: the first's too.
template <int kFault>
__global__ void read_again(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  const bool is_first = threadIdx.x < 32;
  float4 read{};
  if (is_first) read = rows[lane];
  __syncthreads();
  if (is_first && lane == 0) read = rows[lane];
  if (is_first) rows[32 + lane] = read;
  if (!is_first && (lane != 0 || kFault == 1)) rows[lane] = read;
}

// The same of writes, which the second warp reads.
template <int kFault>
__global__ void write_again(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  const bool is_first = threadIdx.x < 32;
  if (is_first) rows[lane] = make_float4(1, 2, 3, 4);
  __syncthreads();
  if (is_first && lane == 0) rows[lane] = make_float4(4, 3, 2, 1);
  if (!is_first && (lane != 0 || kFault == 1)) rows[32 + lane] = rows[lane];
}

// Each lane writes its neighbour's bytes. 1: and, by the same instruction, its own.
template <int kFault>
__global__ void neighbours(float4* rows) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned other = kFault == 1 ? 0 : 1; other < 1 + gridDim.x; ++other)
    rows[at ^ other] = make_float4(4, 3, 2, 1);
}

// Reads as constant what others wrote before the launch. 1: what the warp wrote itself.
template <int kFault>
__global__ void constants(float4* rows) {
  if (kFault == 1) rows[threadIdx.x] = make_float4(4, 3, 2, 1);
  rows[64 + threadIdx.x] = __ldg(&rows[threadIdx.x]);
}

// The halves of a row are written by two instructions. 1: the other warp reads it at once.
template <int kFault>
__global__ void two_lines(float4* rows) {
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 16) rows[lane] = make_float4(1, 2, 3, 4);
  if (threadIdx.x >= 16 && threadIdx.x < 32) rows[lane] = make_float4(4, 3, 2, 1);
  if (kFault != 1) __syncthreads();
  if (threadIdx.x >= 32) rows[32 + lane] = rows[lane];
}

// Two blocks meet before each row, and each updates its half of it.
__global__ void halves_of_blocks(float4* rows, unsigned* meetings, int count) {
  const unsigned lane = threadIdx.x;
  for (int r = 0; r < count; ++r) {
    if (lane == 0) {
      atomicAdd(meetings, 1U);
      while (load_relaxed(meetings) < 2U * static_cast<unsigned>(r + 1)) {
      }
    }
    __syncwarp();
    float4* const mine = rows + r * 256 + lane;  // a page of 4096 bytes each
    if (lane / 16 == blockIdx.x) *mine = plus_one(*mine);
    if (lane / 16 == blockIdx.x) *mine = plus_one(*mine);
  }
}

}  // namespace
#endif

#define BOTH(kernel) ROOFTILE_KERNEL_ENTRY(kernel<0>), ROOFTILE_KERNEL_ENTRY(kernel<1>)

ROOFTILE_KERNEL_TABLE(row_kernels, BOTH(own_rows), BOTH(hand_over),
                      ROOFTILE_KERNEL_ENTRY(hand_over<2>), BOTH(read_by_all),
                      ROOFTILE_KERNEL_ENTRY(read_by_all<2>), BOTH(read_in_cluster),
                      BOTH(write_in_cluster), BOTH(read_by_both), BOTH(halves), BOTH(read_again),
                      BOTH(write_again), BOTH(neighbours), BOTH(constants), BOTH(two_lines),
                      ROOFTILE_KERNEL_ENTRY(halves_of_blocks))
