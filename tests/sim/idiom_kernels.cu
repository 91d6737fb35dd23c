// SPDX-License-Identifier: Apache-2.0
// How blocks of a grid work together, as many kernels have it: right with fault 0, and with faults.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cp_async.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/load_store.h"
#include "rooftile/tile/ptx/strong.h"

#if ROOFTILE_DEVICE_CODE
using namespace rooftile;

namespace {

constexpr int kThreads = 128;

// Each block leaves its part, the last to come adds them up; thread 0 counts for all, between
// barriers. 1: counts before the others have written. 2, 4: no fence of the writers, the readers.
// 3: no barrier behind the count. 5: adds one part too many.
template <int kFault>
__global__ void last_block_adds(const float* in, float* out, unsigned* count, float* parts) {
  __shared__ bool is_last;
  const unsigned t = threadIdx.x;
  if (kFault == 1 && t == 0) {
    __threadfence();
    is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  parts[blockIdx.x * kThreads + t] = 2 * in[blockIdx.x * kThreads + t];
  if (kFault != 2) __threadfence();
  __syncthreads();
  if (kFault != 1 && t == 0) is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  if (kFault != 3) __syncthreads();
  if (!is_last) return;
  if (kFault != 4) __threadfence();
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[(b + (kFault == 5 ? 1 : 0)) * kThreads + t];
  out[t] = sum;
}

// Rounds of the whole grid. 1, 4: no fence before the arrival, behind the wait. 2, 3: no barrier of
// the block behind it, before it. 5: the second round waits for the first.
template <int kFault>
__global__ void rounds_of_grid(const float* in, float* out, unsigned* count, float* parts) {
  const unsigned t = threadIdx.x;
  const unsigned blocks = gridDim.x;
  float value = in[blockIdx.x * kThreads + t];
  for (unsigned round = 0; round < 3; ++round) {
    float* const now = parts + round % 2 * blocks * kThreads;
    now[blockIdx.x * kThreads + t] = value;
    if (kFault != 3) __syncthreads();
    if (t == 0) {
      if (kFault != 1) __threadfence();
      atomicAdd(count, 1u);
      while (load_relaxed(count) < blocks * (kFault == 5 ? 1 : round + 1)) {
      }
      if (kFault != 4) __threadfence();
    }
    if (kFault != 2) __syncthreads();
    value += now[(blockIdx.x + 1) % blocks * kThreads + t];
  }
  out[blockIdx.x * kThreads + t] = value;
}

// Each block waits for the sum of those before it. 1: the flag comes first. 2, 3: it is a plain
// store, a relaxed one.
template <int kFault>
__global__ void running_sum(const float* in, float* out, unsigned* flags, float* sums) {
  __shared__ unsigned number;
  __shared__ float before;
  if (threadIdx.x == 0) {
    number = atomicAdd(&flags[0], 1u);
    float sum = 0;
    if (number > 0) {
      while (load_acquire(&flags[number]) == 0) {
      }
      sum = sums[number - 1];
    }
    unsigned* const mine = &flags[number + 1];
    if (kFault == 1) store_release(mine, 1u);
    sums[number] = sum + in[number];
    if (kFault == 0) store_release(mine, 1u);
    if (kFault == 2) *mine = 1;
    if (kFault == 3) store_relaxed(mine, 1u);
    before = sum;
  }
  __syncthreads();
  out[number * kThreads + threadIdx.x] = before;
}

// A lock that is looked at before it is taken. 1: no fence behind that. 2: given back relaxed.
template <int kFault>
__global__ void in_turn(const float* in, float* out, unsigned* lock, float* total) {
  if (threadIdx.x != 0) return;
  do {
    while (load_relaxed(lock) != 0) {
    }
  } while (atomicCAS(lock, 0u, 1u) != 0);
  if (kFault != 1) fence_device();
  if (lock[32] == 0) total[0] = 0;
  lock[32] += 1;
  total[0] += in[blockIdx.x];
  out[0] = total[0];
  if (kFault == 2)
    store_relaxed(lock, 0u);
  else
    store_release(lock, 0u);
}

// Two groups of copies, of which some lanes have no second. 1: waits for the first alone.
template <int kFault>
__global__ void two_groups(const float* in, float* out) {
  alignas(16) __shared__ float tile[2][32][4];
  const unsigned t = threadIdx.x;
  cp_async<16>(tile[0][t], in + 4 * t);
  cp_async_commit();
  if (t < 16) cp_async<16>(tile[1][t], in + 4 * (32 + t));
  cp_async_commit();
  cp_async_wait<kFault == 1 ? 1 : 0>();
  __syncthreads();
  if (t < 16) out[t] = tile[0][31 - t][0] + tile[1][15 - t][0];
  cp_async_wait<0>();
}

// All blocks add to one row. 1, 2: the first sets it to 0, and nothing orders the others behind
// that. 3: and reads it, before all of its own have added.
template <int kFault>
__global__ void add_to_row(const float* in, float* out, unsigned*, float*) {
  const unsigned t = threadIdx.x;
  if (kFault != 0 && blockIdx.x == 0) out[t] = 0;
  if (kFault == 2) __syncthreads();
  if (kFault != 3) atomicAdd(&out[t], in[blockIdx.x * kThreads + t]);
  if (kFault != 3 || blockIdx.x != 0) return;
  __syncthreads();
  atomicAdd(&out[t], in[t]);
  out[kThreads + t] = out[t ^ 1];
}

// Doubles a row, of which the threads read each other's numbers. 1, 2: as constant, what another
// wrote, and a barrier lies between.
template <int kFault>
__global__ void double_row(const float* in, float* out, unsigned*, float*) {
  const unsigned t = blockIdx.x * kThreads + threadIdx.x;
  out[t] = 2 * (threadIdx.x % 2 == 0 ? __ldg(&in[t]) : load_constant(&in[t]));
  __syncthreads();
  const float next = kFault == 1   ? __ldg(&out[t ^ 1U])
                     : kFault == 2 ? load_constant_kept(&out[t ^ 1U])
                                   : out[t ^ 1U];
  __syncthreads();
  out[t] = next;
}

// Which block came when.
__global__ void take_tickets(const float*, float* out, unsigned* count, float*) {
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(atomicAdd(count, 1u));
}

// A warp asks in a loop, without an acquire, whether another has come.
__global__ void asks_plainly(const float* in, float* out, unsigned* flag, float*) {
  if (threadIdx.x < 32) {
    while (!__any_sync(0xffffffffU, *flag != 0)) {
    }
  } else {
    *flag = 1;
  }
  out[threadIdx.x] = in[threadIdx.x];
}

// All blocks wait for what none of them writes.
__global__ void never_written(const float* in, float* out, unsigned* flag, float*) {
  __shared__ float first;
  if (threadIdx.x == 0) {
    first = in[blockIdx.x];
    while (load_acquire(flag) == 0) {
    }
  }
  __syncthreads();
  out[threadIdx.x] = first;
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(idiom_kernels, ENTRY(last_block_adds<0>), ENTRY(last_block_adds<1>),
                      ENTRY(last_block_adds<2>), ENTRY(last_block_adds<3>),
                      ENTRY(last_block_adds<4>), ENTRY(last_block_adds<5>),
                      ENTRY(rounds_of_grid<0>), ENTRY(rounds_of_grid<1>), ENTRY(rounds_of_grid<2>),
                      ENTRY(rounds_of_grid<3>), ENTRY(rounds_of_grid<4>), ENTRY(rounds_of_grid<5>),
                      ENTRY(running_sum<0>), ENTRY(running_sum<1>), ENTRY(running_sum<2>),
                      ENTRY(running_sum<3>), ENTRY(in_turn<0>), ENTRY(in_turn<1>),
                      ENTRY(in_turn<2>), ENTRY(two_groups<0>), ENTRY(two_groups<1>),
                      ENTRY(never_written), ENTRY(asks_plainly), ENTRY(add_to_row<0>),
                      ENTRY(add_to_row<1>), ENTRY(add_to_row<2>), ENTRY(add_to_row<3>),
                      ENTRY(take_tickets), ENTRY(double_row<0>), ENTRY(double_row<1>),
                      ENTRY(double_row<2>))
