// SPDX-License-Identifier: Apache-2.0
// Kernels of bulk_test.cc: right ones, and copies of them with one fault each.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/bulk_copy.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/bulk_reduce.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/mbarrier.h"

#if ROOFTILE_DEVICE_CODE
namespace rooftile::bulk_test {

enum Fault {
  none,
  no_wait,
  odd_size,
  misaligned,
  beyond_global,
  no_proxy_fence,
  no_read_wait,
  block_leaves,
  other_barrier,
};

/// 256 numbers in, doubled, out.
template <int kFault>
__global__ void double_all(const int* in, int* out) {
  __shared__ __align__(16) int numbers[256];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, 1024);
    bulk_load(numbers,
              in + (kFault == misaligned      ? 1
                    : kFault == beyond_global ? 64
                                              : 0),
              kFault == odd_size ? 1020 : 1024, &full, CacheHint::evict_first);
  }
  __syncthreads();
  if (kFault != no_wait) mbarrier_wait(&full, 0);
  const int doubled = 2 * numbers[threadIdx.x];
  __syncthreads();
  numbers[threadIdx.x] = doubled;
  if (kFault != no_proxy_fence) fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, numbers, 1024);
    bulk_commit();
    if (kFault != no_read_wait) bulk_wait_read<0>();
  }
  __syncthreads();
  numbers[threadIdx.x] = 0;
}

/// Every block adds 1, 2, 3, … to the same sums.
__global__ void add_all(float* sums, bf16* halves, int32_t* least) {
  __shared__ __align__(16) float numbers[64];
  __shared__ __align__(16) bf16 half[64];
  __shared__ __align__(16) int32_t integers[64];
  numbers[threadIdx.x] = static_cast<float>(threadIdx.x + 1);
  half[threadIdx.x] = bf16{0x3f80};
  integers[threadIdx.x] = static_cast<int32_t>(blockIdx.x) - static_cast<int32_t>(threadIdx.x);
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x != 0) return;
  bulk_reduce_add(sums, numbers, sizeof numbers);
  bulk_reduce_add(halves, half, sizeof half);
  bulk_reduce_min(least, integers, sizeof integers);
  bulk_commit();
  bulk_wait<0>();
}

/// The blocks of a cluster of two exchange 64 numbers, then add them to the other's.
template <int kFault>
__global__ void exchange(int* out) {
  __shared__ __align__(16) int mine[64];
  __shared__ __align__(16) int theirs[64];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, 256 + 4 + 16);
  }
  mine[threadIdx.x] = static_cast<int>(cluster_rank() * 100 + threadIdx.x);
  fence_proxy_async_shared();
  cluster_sync();
  const uint32_t peer = cluster_rank() ^ 1;
  Mbarrier* const barrier = map_shared(&full, peer);
  if (threadIdx.x == 0) {
    bulk_copy_cluster(map_shared(theirs, peer), mine, 256,
                      kFault == other_barrier ? &full : barrier);
    static_cast<void>(barrier);
  }
  __shared__ uint32_t word;
  __shared__ uint4 words;
  if (threadIdx.x == 1) {
    store_async(map_shared(&word, peer), 5 + peer, barrier);
    store_async(map_shared(&words, peer), make_uint4(1, 2, 3, 4), barrier);
  }
  if (kFault != no_wait) mbarrier_wait_cluster(&full, 0);
  out[blockIdx.x * 64 + threadIdx.x] =
      theirs[threadIdx.x] + static_cast<int>(word * 1000 + words.w * 10000);
  if (kFault != block_leaves) cluster_sync();
}

/// The first block sends 64 numbers to the second, which ends when it has them. 1: in one copy from
/// shared memory, which must last as long; 2 to 4: and the second says when, by an arrival, or at
/// the cluster's barrier.
template <int kHow>
__global__ void send(int* out) {
  __shared__ __align__(16) uint32_t mine[64];
  __shared__ __align__(16) uint32_t theirs[64];
  __shared__ Mbarrier full;
  __shared__ Mbarrier is_sent;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    mbarrier_init(&is_sent, 1);
    fence_mbarrier_init();
    if (cluster_rank() == 1) mbarrier_arrive_expect_tx(&full, 256);
  }
  mine[threadIdx.x] = threadIdx.x;
  fence_proxy_async_shared();
  cluster_sync();
  if (cluster_rank() == 0) {
    if (kHow == 0)
      store_async(map_shared(&theirs[threadIdx.x], 1), mine[threadIdx.x], map_shared(&full, 1));
    else if (threadIdx.x == 0)
      bulk_copy_cluster(map_shared(theirs, 1), mine, 256, map_shared(&full, 1));
    if (kHow == 2) mbarrier_wait(&is_sent, 0);
  } else {
    mbarrier_wait_cluster(&full, 0);
    out[threadIdx.x] = static_cast<int>(theirs[threadIdx.x]);
    if (kHow == 2 && threadIdx.x == 0) mbarrier_arrive_remote(map_shared(&is_sent, 0));
  }
  if (kHow == 3) cluster_sync();
  if (kHow == 4) cluster_meet();
}

/// Both blocks add to a counter of block 0.
__global__ void count_in_cluster(uint32_t* out) {
  __shared__ __align__(16) uint32_t sums[4];
  __shared__ __align__(16) uint32_t ones[4];
  __shared__ Mbarrier done;
  if (threadIdx.x < 4) {
    sums[threadIdx.x] = 10;
    ones[threadIdx.x] = threadIdx.x + 1;
  }
  if (threadIdx.x == 0) {
    mbarrier_init(&done, 1);
    fence_mbarrier_init();
    if (cluster_rank() == 0) mbarrier_arrive_expect_tx(&done, 32);
  }
  fence_proxy_async();
  cluster_sync();
  if (threadIdx.x == 0)
    bulk_reduce_add_cluster(map_shared(sums, 0), ones, 16, map_shared(&done, 0));
  if (cluster_rank() == 0) {
    mbarrier_wait_cluster(&done, 0);
    if (threadIdx.x < 4) out[threadIdx.x] = sums[threadIdx.x];
  }
  cluster_sync();
}

}  // namespace rooftile::bulk_test
#endif

#define DOUBLE_ALL(fault) \
  ROOFTILE_KERNEL_ENTRY(rooftile::bulk_test::double_all<rooftile::bulk_test::fault>)
#define SEND(how) ROOFTILE_KERNEL_ENTRY(rooftile::bulk_test::send<how>)
#define EXCHANGE(fault) \
  ROOFTILE_KERNEL_ENTRY(rooftile::bulk_test::exchange<rooftile::bulk_test::fault>)
ROOFTILE_KERNEL_TABLE(bulk_kernels, DOUBLE_ALL(none), DOUBLE_ALL(no_wait), DOUBLE_ALL(odd_size),
                      DOUBLE_ALL(misaligned), DOUBLE_ALL(beyond_global), DOUBLE_ALL(no_proxy_fence),
                      DOUBLE_ALL(no_read_wait), ROOFTILE_KERNEL_ENTRY(rooftile::bulk_test::add_all),
                      EXCHANGE(none), EXCHANGE(no_wait), EXCHANGE(block_leaves),
                      EXCHANGE(other_barrier), SEND(0), SEND(1), SEND(2), SEND(3), SEND(4),
                      ROOFTILE_KERNEL_ENTRY(rooftile::bulk_test::count_in_cluster))
