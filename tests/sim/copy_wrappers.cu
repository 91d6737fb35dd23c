// SPDX-License-Identifier: Apache-2.0
// Every wrapper of copies, barriers and fences once, so that each instruction is assembled.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/bulk_copy.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/bulk_reduce.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/cp_async.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/grid_dependency.h"
#include "rooftile/tile/ptx/load_store.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/named_barrier.h"
#include "rooftile/tile/ptx/strong.h"
#include "rooftile/tile/ptx/tma.h"
#include "rooftile/tile/ptx/tma_reduce.h"

#if ROOFTILE_DEVICE_CODE
namespace rooftile::copy_wrappers_test {
namespace {

template <int kRank>
__device__ void boxes(unsigned char* shared, const TensorMap* map, Mbarrier* barrier,
                      BoxAt<kRank> at) {
  tma_load(shared, map, barrier, at);
  tma_load_multicast(shared, map, barrier, 3, at, CacheHint::evict_last);
  tma_store(map, at, shared, CacheHint::evict_first);
  tma_reduce_add(map, at, shared);
  tma_reduce_min(map, at, shared);
  tma_reduce_max(map, at, shared);
  tma_reduce_and(map, at, shared);
  tma_reduce_or(map, at, shared);
  tma_reduce_xor(map, at, shared);
  tma_prefetch(map, at);
}

template <class T>
__device__ void reduce_integers(void* to, const void* from) {
  bulk_reduce_add(static_cast<T*>(to), static_cast<const T*>(from), 16);
  bulk_reduce_min(static_cast<T*>(to), static_cast<const T*>(from), 16);
  bulk_reduce_max(static_cast<T*>(to), static_cast<const T*>(from), 16);
}

__device__ void reduce_all(void* to, unsigned char* from, Mbarrier* barrier) {
  reduce_integers<uint32_t>(to, from);
  reduce_integers<int32_t>(to, from);
  reduce_integers<fp16>(to, from);
  reduce_integers<bf16>(to, from);
  bulk_reduce_add(static_cast<float*>(to), reinterpret_cast<float*>(from), 16);
  bulk_reduce_add(static_cast<double*>(to), reinterpret_cast<double*>(from), 16);
  bulk_reduce_add(static_cast<uint64_t*>(to), reinterpret_cast<uint64_t*>(from), 16);
  auto* words = reinterpret_cast<uint32_t*>(from);
  auto* numbers = reinterpret_cast<int32_t*>(from);
  bulk_reduce_and(static_cast<uint32_t*>(to), words, 16);
  bulk_reduce_or(static_cast<uint32_t*>(to), words, 16);
  bulk_reduce_xor(static_cast<uint32_t*>(to), words, 16);
  bulk_reduce_add_cluster(words, words + 4, 16, barrier);
  bulk_reduce_add_cluster(numbers, numbers + 4, 16, barrier);
  bulk_reduce_add_cluster(reinterpret_cast<uint64_t*>(from), reinterpret_cast<uint64_t*>(from) + 2,
                          16, barrier);
  bulk_reduce_min_cluster(numbers, numbers + 4, 16, barrier);
  bulk_reduce_max_cluster(numbers, numbers + 4, 16, barrier);
  bulk_reduce_or_cluster(words, words + 4, 16, barrier);
}

template <StrongScope kScope>
__device__ void strong(uint32_t* word, uint64_t* wide) {
  store_release<kScope>(word, load_acquire<kScope>(word) + load_relaxed<kScope>(word));
  store_relaxed<kScope>(wide, load_acquire<kScope>(wide) + load_relaxed<kScope>(wide));
  store_release<kScope>(wide, wide[1]);
  store_relaxed<kScope>(word, atomic_add_acquire_release<kScope>(word, 1u));
  reduce_add_release<kScope>(word, 1u);
}

template <class T>
__device__ void cached(T* to, const T* from) {
  to[0] = load_constant(from);
  to[1] = load_constant_no_l1(from);
  to[2] = load_constant_kept(from);
  to[3] = load_no_l1(from);
  store_no_l1(to + 4, load_streaming(from));
  store_streaming(to + 5, load_from_l2(from));
  store_to_l2(to + 6, from[1]);
}

}  // namespace

__global__ void every_copy(const __grid_constant__ TensorMap map, void* to, const void* from) {
  ROOFTILE_DYNAMIC_SHARED(shared);
  __shared__ Mbarrier barrier;
  mbarrier_init(&barrier, 1);
  fence_mbarrier_init();
  fence_proxy_async();
  fence_proxy_async_shared();
  fence_proxy_async_global();
  fence_block();
  fence_cluster();
  fence_device();
  fence_system();
  tensor_map_prefetch(&map);
  boxes(shared, &map, &barrier, box_at(threadIdx.x));
  boxes(shared, &map, &barrier, box_at(1, 2));
  boxes(shared, &map, &barrier, box_at(1, 2, 3));
  boxes(shared, &map, &barrier, box_at(1, 2, 3, 4));
  boxes(shared, &map, &barrier, box_at(1, 2, 3, 4, 5));
  reduce_all(to, shared, &barrier);
  bulk_load(shared, from, 16, &barrier);
  bulk_load_multicast(shared, from, 16, &barrier, 1);
  bulk_store(to, shared, 16);
  bulk_prefetch(from, 16);
  Mbarrier* const remote = map_shared(&barrier, cluster_rank());
  bulk_copy_cluster(map_shared(shared, 1), shared, 16, remote);
  store_async(reinterpret_cast<uint32_t*>(map_shared(shared, 1)), 7, remote);
  store_async(reinterpret_cast<uint4*>(map_shared(shared, 1)), make_uint4(1, 2, 3, 4), remote);
  bulk_commit();
  bulk_wait<1>();
  bulk_wait_read<0>();
  cp_async<4>(shared, from);
  cp_async<8>(shared, from, 4);
  cp_async<16>(shared, from);
  cp_async_cg(shared, from, 0);
  cp_async_commit();
  cp_async_wait<1>();
  cp_async_wait_all();
  cp_async_arrive(&barrier);
  cp_async_arrive_noinc(&barrier);
  const uint64_t token = mbarrier_arrive(&barrier) + mbarrier_arrive_expect_tx(&barrier, 16);
  mbarrier_expect_tx(&barrier, 16);
  mbarrier_arrive_cluster(remote);
  mbarrier_arrive_expect_tx_cluster(remote, 16);
  if (mbarrier_test_wait(&barrier, 0) && mbarrier_try_wait_token(&barrier, token))
    mbarrier_wait(&barrier, 0);
  mbarrier_wait_token(&barrier, token);
  mbarrier_wait_cluster(&barrier, cluster_block().x + cluster_dim().x);
  mbarrier_invalidate(&barrier);
  cluster_sync();
  named_barrier_arrive(1, 64);
  named_barrier_sync(1, 64);
  wait_for_grid();
  launch_dependents();
  strong<StrongScope::cluster>(static_cast<uint32_t*>(to), static_cast<uint64_t*>(to));
  strong<StrongScope::device>(static_cast<uint32_t*>(to), static_cast<uint64_t*>(to));
  strong<StrongScope::system>(static_cast<uint32_t*>(to), static_cast<uint64_t*>(to));
  cached(static_cast<float*>(to), static_cast<const float*>(from));
  cached(static_cast<float2*>(to), static_cast<const float2*>(from));
  cached(static_cast<uint4*>(to), static_cast<const uint4*>(from));
}

}  // namespace rooftile::copy_wrappers_test
#endif

ROOFTILE_KERNEL_TABLE(copy_wrappers,
                      ROOFTILE_KERNEL_ENTRY(rooftile::copy_wrappers_test::every_copy))
