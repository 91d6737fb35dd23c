// SPDX-License-Identifier: Apache-2.0
// Kernels of mbarrier_test.cc: one right, and copies of it with one fault each.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/mbarrier.h"

#if ROOFTILE_DEVICE_CODE
namespace rooftile::mbarrier_test {

enum Fault {
  none,
  no_wait,
  wrong_parity,
  too_many_arrivals,
  no_init,
  misaligned,
  init_again,
  no_arrival,
  no_sync_after_init,
  overwritten,
  bad_parity,
  no_arrival_of_peer,
  arrival_of_block,
  wait_of_block,
  ends_early,
};

/// Thread 0 writes a number and arrives; the others wait for it. `rounds` times, with a second
/// barrier for the way back.
template <int kFault>
__global__ void hand_over(int* out, int rounds) {
  __shared__ Mbarrier full[3];
  __shared__ Mbarrier empty;
  __shared__ int number;
  const int readers = static_cast<int>(blockDim.x) - 1;
  Mbarrier* const ready = kFault == misaligned
                              ? reinterpret_cast<Mbarrier*>(reinterpret_cast<char*>(full) + 4)
                              : &full[0];
  if (threadIdx.x == 0 && kFault != no_init) {
    mbarrier_init(ready, 1);
    mbarrier_init(&empty, static_cast<uint32_t>(readers));
    if (kFault == init_again) mbarrier_init(ready, 1);
    fence_mbarrier_init();
    if (kFault == overwritten) reinterpret_cast<uint32_t*>(ready)[1] = 7;
  }
  if (kFault != no_sync_after_init) __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto parity = static_cast<uint32_t>(round & 1);
    if (threadIdx.x == 0) {
      if (round != 0) mbarrier_wait(&empty, parity ^ 1);
      number = round + 10;
      if (kFault != no_arrival) mbarrier_arrive(ready);
      if (kFault == too_many_arrivals) mbarrier_arrive(ready, 2);
    } else {
      if (kFault == wrong_parity)
        mbarrier_wait(ready, parity ^ 1);
      else if (kFault != no_wait)
        mbarrier_wait(ready, kFault == bad_parity ? 2 : parity);
      sum += number;
      mbarrier_arrive(&empty);
    }
  }
  out[threadIdx.x] = sum;
}

/// Waits by token and by polling; the barrier's memory is used for something else afterwards.
__global__ void tokens(int* out) {
  __shared__ Mbarrier barrier;
  __shared__ int values[64];
  if (threadIdx.x == 0) mbarrier_init(&barrier, blockDim.x);
  __syncthreads();
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  mbarrier_wait_token(&barrier, mbarrier_arrive(&barrier));
  const int other = values[63 - threadIdx.x];
  mbarrier_arrive(&barrier);
  while (!mbarrier_test_wait(&barrier, 1)) {
  }
  values[threadIdx.x] = other * 2;
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_invalidate(&barrier);
    *reinterpret_cast<uint64_t*>(&barrier) = 5;
    values[0] += static_cast<int>(*reinterpret_cast<uint64_t*>(&barrier));
  }
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

/// Blocks of a cluster of two tell each other when their numbers are ready.
template <int kFault>
__global__ void to_peer(int* out) {
  __shared__ Mbarrier barrier;
  __shared__ int number;
  if (threadIdx.x == 0) {
    mbarrier_init(&barrier, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  const uint32_t peer = cluster_rank() ^ 1;
  if (threadIdx.x == 0) {
    *map_shared(&number, peer) = static_cast<int>(cluster_rank()) + 1;
    if (kFault == arrival_of_block)
      mbarrier_arrive_remote(map_shared(&barrier, peer));
    else if (kFault != no_arrival_of_peer)
      mbarrier_arrive_cluster(map_shared(&barrier, peer));
  }
  if (kFault == wait_of_block)
    mbarrier_wait(&barrier, 0);
  else if (kFault != no_wait)
    mbarrier_wait_cluster(&barrier, 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = number;
  cluster_sync();
}

/// Each block writes a number into the other and reads its own after a barrier of both.
template <bool kReleases>
__global__ void meet_peer(int* out) {
  __shared__ int number;
  cluster_sync();
  if (threadIdx.x == 0) *map_shared(&number, cluster_rank() ^ 1) = 7;
  if (kReleases)
    cluster_sync();
  else
    cluster_meet();
  out[blockIdx.x * blockDim.x + threadIdx.x] = number;
  cluster_meet();
}

/// Barriers that are made known by a fence of their own, then a barrier of the cluster that
/// releases nothing; or by that barrier alone.
template <bool kFences>
__global__ void meet_after_init(int* out) {
  __shared__ Mbarrier barrier;
  if (threadIdx.x == 0) {
    mbarrier_init(&barrier, 1);
    if (kFences) fence_mbarrier_init();
  }
  cluster_meet();
  if (threadIdx.x == 1) mbarrier_arrive_cluster(map_shared(&barrier, cluster_rank() ^ 1));
  mbarrier_wait(&barrier, 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  cluster_meet();
}

/// Each block reads a number of the other, which must not end, nor write it again, before that.
template <int kFault>
__global__ void read_peer(int* out) {
  __shared__ Mbarrier is_read;
  __shared__ int number;
  if (threadIdx.x == 0) {
    mbarrier_init(&is_read, blockDim.x);
    fence_mbarrier_init();
    number = static_cast<int>(blockIdx.x) + 5;
  }
  cluster_sync();
  const uint32_t peer = cluster_rank() ^ 1;
  if (kFault == ends_early && peer == 0) return;
  out[blockIdx.x * blockDim.x + threadIdx.x] = *map_shared(&number, peer);
  if (kFault == ends_early) return;
  mbarrier_arrive_remote(map_shared(&is_read, peer));
  if (threadIdx.x != 0) return;
  if (kFault != no_wait) mbarrier_wait(&is_read, 0);
  number = 0;
}

/// Threads that have returned do not hold up a barrier of the cluster.
__global__ void meet_without_the_others(int* out) {
  if (threadIdx.x >= 16) return;
  cluster_sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 3;
  cluster_sync();
}

}  // namespace rooftile::mbarrier_test
#endif

ROOFTILE_KERNEL_TABLE(
    mbarrier_kernels,
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::none>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::no_wait>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::wrong_parity>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::too_many_arrivals>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::no_init>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::misaligned>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::init_again>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::no_arrival>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::no_sync_after_init>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::overwritten>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::hand_over<rooftile::mbarrier_test::bad_parity>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::tokens),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::none>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::no_wait>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::no_arrival_of_peer>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::arrival_of_block>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::to_peer<rooftile::mbarrier_test::wait_of_block>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::read_peer<rooftile::mbarrier_test::none>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::read_peer<rooftile::mbarrier_test::ends_early>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::read_peer<rooftile::mbarrier_test::no_wait>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::meet_without_the_others),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::meet_peer<true>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::meet_peer<false>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::meet_after_init<true>),
    ROOFTILE_KERNEL_ENTRY(rooftile::mbarrier_test::meet_after_init<false>))
