// SPDX-License-Identifier: Apache-2.0
// Kernels for the simulator's core: each is right with fault 0, and has faults that must be found.
#include "rooftile/formats/bf16.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/named_barrier.h"

#if ROOFTILE_DEVICE_CODE
namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 128;

// Reverses the block's part through shared memory. 1: no barrier. 2: one thread too far. 3: clears
// what lies behind the tile, where the host's own variables are.
template <int kFault>
__global__ void reverse(const float* in, float* out) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kThreads;
  tile[t] = in[first + t];
  if (kFault == 3)
    for (unsigned i = kThreads; i < gridDim.x * 65536; ++i) tile[i] = 0;
  if (kFault != 1) __syncthreads();
  out[first + t] = tile[kThreads - (kFault == 2 ? 0 : 1) - t];
}

// Adds the neighbours' values, again and again. 1: no barrier before the tile is written again.
template <int kFault>
__global__ void smooth(const float* in, float* out, int steps) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  float value = in[t];
  for (int step = 0; step < steps; ++step) {
    tile[t] = value;
    __syncthreads();
    value = tile[t] + tile[(t + 1) % kThreads];
    if (kFault != 1) __syncthreads();
  }
  out[t] = value;
}

// Lanes exchange through shared memory. 1: no __syncwarp.
template <int kFault>
__global__ void swap_lanes(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  if (kFault != 1) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// Neighbouring bf16 by neighbouring threads: no race, though they share a word. 1: both write one.
template <int kFault>
__global__ void narrow(const float* in, rooftile::bf16* out) {
  __shared__ rooftile::bf16 tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[kFault == 1 ? t / 2 * 2 : t] =
      rooftile::bf16::from(in[t], rooftile::Overflow::to_special, rooftile::Rounding::nearest_even);
  __syncthreads();
  out[t] = tile[kThreads - 1 - t];
}

// 1: reads past the end, 2: writes past the end, 3: a vector at an odd address, 4: through null,
// 5: beyond dynamic shared memory, 6: a part of shared memory that nobody wrote, 7: past the end of
// a thread's own array, 8: past the end of a row, within the tile.
template <int kFault>
__global__ void bounds(const float* in, float* out, int n) {
  ROOFTILE_DYNAMIC_SHARED(raw);
  float* const tile = reinterpret_cast<float*>(raw);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  if (kFault != 6 || t != 5) tile[t + (kFault == 5 ? 1 : 0)] = 1;
  float value = i < n + (kFault == 1 ? 1 : 0) ? in[i] : 0.0f;
  if (kFault == 3) {
    const float4 four = *reinterpret_cast<const float4*>(in + 1);
    value += four.x + four.y + four.z + four.w;
  }
  if (kFault == 7) {
    float own[4] = {value, value, value, value};
    own[n / 50] = 0;
    value += own[n / 50 - 1];
  }
  if (kFault == 8) {
    __shared__ float rows[2][kThreads];
    rows[0][t + n / 200] = value;
    value += rows[0][t];
  }
  float* const to = kFault == 4 ? nullptr : out;
  __syncthreads();
  if (i < n + (kFault == 2 ? 1 : 0)) to[i] = value * tile[kFault == 5 ? t + 1 : t];
}

__device__ float warp_sum(float value, unsigned mask) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(mask, value, lanes);
  return value;
}

// The last block to finish adds what the others left. 1: no fence. 2: the ticket is no atomic.
template <int kFault>
__global__ void sum_all(const float* in, float* parts, unsigned* ticket, float* out) {
  __shared__ bool is_last;
  const float sum = warp_sum(in[blockIdx.x * 32 + threadIdx.x], kAll);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    if (kFault != 1) __threadfence();
    const unsigned before = kFault == 2 ? (*ticket)++ : atomicAdd(ticket, 1u);
    is_last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  if (kFault != 1) __threadfence();
  float all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += parts[i];
  *out = all;
}

// All blocks wait until each has come. 1: one too many is waited for.
template <int kFault>
__global__ void meet(unsigned* count, float* out) {
  if (threadIdx.x == 0) {
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < gridDim.x + (kFault == 1 ? 1 : 0)) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Half of the block makes, half takes. 1: the makers do not arrive. 2: wrong number of threads.
// 3: takers go on without waiting.
template <int kFault>
__global__ void hand_over(const float* in, float* out) {
  __shared__ float tile[kThreads / 2];
  const int t = static_cast<int>(threadIdx.x);
  constexpr int kThreadsOfBarrier = kFault == 2 ? kThreads - 32 : kThreads;
  if (t < kThreads / 2) {
    tile[t] = in[t];
    if (kFault != 1) rooftile::named_barrier_arrive(1, kThreads);
  } else {
    if (kFault != 3) rooftile::named_barrier_sync(1, kThreadsOfBarrier);
    out[t - kThreads / 2] = tile[kThreads - 1 - t];
  }
}

// 1: a shuffle whose mask lacks lanes that execute it. 2: lanes in different operations.
// 3: a block barrier that a part of the block never reaches, since it waits for a warp. 4: lanes at
// different barriers of the block, which count each other.
template <int kFault>
__global__ void together(const float* in, float* out) {
  const int t = static_cast<int>(threadIdx.x);
  float value = in[t];
  if (kFault == 1) {
    value = warp_sum(value, 0x0000ffffu);
  } else if (kFault == 2) {
    if (t % 2 == 0)
      value = static_cast<float>(__ballot_sync(kAll, 1));
    else
      value = static_cast<float>(__any_sync(kAll, 1));
  } else if (kFault == 3) {
    if (t % 32 < 16) __syncthreads();
    value = warp_sum(value, kAll);
    if (t % 32 >= 16) __syncthreads();
  } else if (kFault == 4) {
    if (t % 32 < 16) __syncthreads();
    value += 1;
    if (t % 32 >= 16) __syncthreads();
  } else {
    value = warp_sum(value, kAll);
    __syncthreads();
  }
  out[t] = value;
}

// 1: every block writes the same place. 2: writes what other threads of the block read.
template <int kFault>
__global__ void in_place(float* data) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int from = kFault == 2 ? (i % kThreads == 0 ? i + kThreads - 1 : i - 1) : i;
  const float value = data[from];
  data[kFault == 1 ? i % kThreads : i] = value + 1;
}

// Every block reads one element. 1: the last block writes it as well; 2: with an atomic.
template <int kFault>
__global__ void in_common(float* data, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = data[0];
  __syncthreads();
  if (kFault != 0 && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    if (kFault == 1)
      data[0] = 1;
    else
      atomicExch(&data[0], 1.0f);
  }
}

// Launched behind another that wrote `data`. 1: nobody waits; 2: a thread waits, and nothing orders
// the others behind it.
template <int kFault>
__global__ void behind(float* data) {
  if (kFault == 0 || (kFault == 2 && threadIdx.x == 0)) rooftile::wait_for_grid();
  data[threadIdx.x] += 1;
}

// Between two others, of whose data it touches nothing. 0: without a wait; 1: with one; 2: after it
// has let the next begin.
template <int kHow>
__global__ void between(float* other) {
  if (kHow == 2) rooftile::launch_dependents();
  if (kHow != 0) rooftile::wait_for_grid();
  other[threadIdx.x] = 1;
}

// One thread waits for all.
__global__ void behind_one(float* data) {
  if (threadIdx.x == 0) rooftile::wait_for_grid();
  __syncthreads();
  data[threadIdx.x] += 1;
}

// Reads memory that the host never filled.
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void stop(const float* in) {
  if (in[threadIdx.x] < 1e30f) __trap();
}

// Histograms by atomics, shared then global: right in any order.
__global__ void histogram(const unsigned* in, unsigned* bins, int n) {
  __shared__ unsigned local[32];
  if (threadIdx.x < 32) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    atomicAdd(&local[in[i] % 32], 1u);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// The number at `place` behind the start of a variable of three, with room around it.
__global__ void beside(float* out, int place) {
  alignas(64) __shared__ float others[3];
  alignas(64) __shared__ float three[3];
  if (threadIdx.x < 3) others[threadIdx.x] = three[threadIdx.x] = 1;
  __syncthreads();
  const float* const first = three;
  if (threadIdx.x == 0) out[0] = first[place] + others[1];
}

// Threads that return early do not hold up a barrier.
__global__ void leave_early(float* out, int stay) {
  if (static_cast<int>(threadIdx.x) >= stay) return;
  __syncthreads();
  out[threadIdx.x] = static_cast<float>(__syncthreads_count(threadIdx.x % 2 == 0));
}

// Atomics of memory that was written, or exchanged first. 1: of shared memory that nobody wrote; 2,
// 3: of such global memory. 4: reads a variable that the file never writes.
template <int kFault>
__global__ void first_atomics(unsigned* unwritten, unsigned* out) {
  __shared__ unsigned count[32];
  __shared__ unsigned taken[32];
  [[maybe_unused]] __shared__ unsigned never[32];
  const unsigned t = threadIdx.x;
  if (kFault != 1) count[t] = 0;
  __syncthreads();
  atomicAdd(&count[t / 2], 1U);
  atomicExch(&taken[t], t);
  if (kFault != 2 && kFault != 3) atomicExch(&unwritten[t], t);
  if (kFault != 3) atomicMax(&unwritten[t], 7U);
  if (kFault == 3) atomicCAS(&unwritten[t], 0U, 1U);
  __syncthreads();
  out[t] = count[t] + atomicAdd(&taken[t], 1U);
  if (kFault == 4) out[t] += never[t];
}

// The halves of a warp shuffle each for itself, in branches of their own.
__global__ void shuffle_by_halves(unsigned* out) {
  const unsigned t = threadIdx.x;
  unsigned sum = t;
  if (t < 16) {
    for (int i = 0; i < 100; ++i) sum += __shfl_xor_sync(0x0000ffffU, t, 1 + i % 15);
  } else {
    for (int i = 0; i < 100; ++i) sum += __shfl_sync(0xffff0000U, t, 16 + i % 16);
  }
  out[t] = sum;
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(core_kernels, ENTRY(reverse<0>), ENTRY(reverse<1>), ENTRY(reverse<2>),
                      ENTRY(reverse<3>), ENTRY(smooth<0>), ENTRY(smooth<1>), ENTRY(swap_lanes<0>),
                      ENTRY(swap_lanes<1>), ENTRY(narrow<0>), ENTRY(narrow<1>), ENTRY(bounds<0>),
                      ENTRY(bounds<1>), ENTRY(bounds<2>), ENTRY(bounds<3>), ENTRY(bounds<4>),
                      ENTRY(bounds<5>), ENTRY(bounds<6>), ENTRY(bounds<7>), ENTRY(bounds<8>),
                      ENTRY(sum_all<0>), ENTRY(sum_all<1>), ENTRY(sum_all<2>), ENTRY(meet<0>),
                      ENTRY(meet<1>), ENTRY(hand_over<0>), ENTRY(hand_over<1>), ENTRY(hand_over<2>),
                      ENTRY(hand_over<3>), ENTRY(together<0>), ENTRY(together<1>),
                      ENTRY(together<2>), ENTRY(together<3>), ENTRY(together<4>),
                      ENTRY(in_place<0>), ENTRY(in_place<1>), ENTRY(in_place<2>),
                      ENTRY(in_common<0>), ENTRY(in_common<1>), ENTRY(in_common<2>),
                      ENTRY(behind<0>), ENTRY(behind<1>), ENTRY(behind<2>), ENTRY(behind_one),
                      ENTRY(between<0>), ENTRY(between<1>), ENTRY(between<2>), ENTRY(copy),
                      ENTRY(first_atomics<0>), ENTRY(first_atomics<1>), ENTRY(first_atomics<2>),
                      ENTRY(first_atomics<3>), ENTRY(first_atomics<4>), ENTRY(stop),
                      ENTRY(histogram), ENTRY(shuffle_by_halves), ENTRY(leave_early), ENTRY(beside))
