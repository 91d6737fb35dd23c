// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp, threads of a block and blocks of a cluster that meet, some of them in ways that
// CUDA leaves undefined.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/named_barrier.h"

namespace {

constexpr unsigned kAll = 0xffffffffU;

// Lanes that have returned are named in the mask: the others go on without them.
__global__ void returned_lanes_vote(const float* in, float* out) {
  const unsigned t = threadIdx.x;
  if (t >= 20) return;
  const unsigned here = __ballot_sync(kAll, in[t] > 0);
  const float next = __shfl_sync(kAll, in[t], static_cast<int>((t + 1) % 20));
  __syncwarp(kAll);
  out[t] = here == 0xfffffU ? next : -1;
}

// One lane adds for all of its branch.
__global__ void branch_adds_at_once(const float* in, float* out) {
  if (threadIdx.x % 3 != 0) return;
  const unsigned mask = __activemask();
  const int first = __ffs(static_cast<int>(mask)) - 1;
  if (static_cast<int>(threadIdx.x) == first)
    atomicAdd(out, in[0] * static_cast<float>(__popc(mask)));
}

// The upper lanes take no part in the shuffle.
__global__ void shuffle_from_outside(const float* in, float* out) {
  const unsigned t = threadIdx.x;
  float v = in[t];
  if (t < 16) v = __shfl_sync(0xffffU, v, 20);
  out[t] = v;
}

// What the upper lanes wrote, before they returned, nothing orders.
__global__ void reads_of_returned_lanes(const float* in, float* out) {
  __shared__ float x[32];
  const unsigned t = threadIdx.x;
  x[t] = in[t];
  if (t >= 16) return;
  __syncwarp(0xffffU);
  out[t] = x[t + 16];
}

__global__ void barrier_0_by_number(const float* in, float* out) {
  if (threadIdx.x < 64) rooftile::named_barrier_sync(0, 64);
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}

template <int kArrivals>
__global__ void cluster_barrier(const float* in, float* out) {
  for (int i = 0; i < kArrivals; ++i) rooftile::cluster_arrive();
  rooftile::cluster_wait();
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}

// Each block writes to the other. 1: perhaps before that has begun.
template <int kFault>
__global__ void write_to_other(const float* in, float* out) {
  __shared__ float x;
  if (kFault != 1) rooftile::cluster_sync();
  if (threadIdx.x == 0) *rooftile::map_shared(&x, rooftile::cluster_rank() ^ 1U) = in[blockIdx.x];
  rooftile::cluster_sync();
  if (threadIdx.x == 0) out[blockIdx.x] = x;
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(together_kernels, ENTRY(returned_lanes_vote), ENTRY(branch_adds_at_once),
                      ENTRY(shuffle_from_outside), ENTRY(reads_of_returned_lanes),
                      ENTRY(barrier_0_by_number), ENTRY(cluster_barrier<0>),
                      ENTRY(cluster_barrier<1>), ENTRY(cluster_barrier<2>),
                      ENTRY(write_to_other<0>), ENTRY(write_to_other<1>))
