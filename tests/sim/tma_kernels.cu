// SPDX-License-Identifier: Apache-2.0
// Kernels of tma_test.cc: right ones, and copies of them with one fault each.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/tma.h"
#include "rooftile/tile/ptx/tma_reduce.h"

#if ROOFTILE_DEVICE_CODE
namespace rooftile::tma_test {

enum Fault {
  none,
  no_wait,
  wrong_parity,
  too_few_bytes,
  too_many_bytes,
  no_init_fence,
  misaligned_box,
  beyond_shared,
  loads_over_readers,
  odd_coordinate,
  no_map,
  other_rank,
  nobody_waits,
  no_proxy_fence,
  no_sync,
  no_read_wait,
  no_commit,
  result_before_wait,
  negative,
};

struct At {
  int32_t at[5];
};

template <int kRank>
__device__ BoxAt<kRank> first_of(At all) {
  BoxAt<kRank> at;
  for (int d = 0; d < kRank; ++d) at.at[d] = all.at[d];
  return at;
}

/// What lies in shared memory after a load of a box of `words` words.
template <int kRank>
__global__ void load_box(const __grid_constant__ TensorMap map, At at, uint32_t* out, int words) {
  ROOFTILE_DYNAMIC_SHARED(box);
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, static_cast<uint32_t>(words) * 4);
    tma_load(box, &map, &full, first_of<kRank>(at));
  }
  mbarrier_wait(&full, 0);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
    out[i] = reinterpret_cast<const uint32_t*>(box)[i];
}

/// Rows of 64 bytes with a swizzle of 128: what lies between them is not written.
__global__ void load_padded(const __grid_constant__ TensorMap map, uint32_t* out) {
  ROOFTILE_DYNAMIC_SHARED(box);
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, 4 * 64);
    tma_load(box, &map, &full, box_at(0, 0));
  }
  for (uint32_t i = threadIdx.x; i < 4 * 128 / 4; i += 32) {
    const uint32_t row = i / 32;
    const uint32_t chunk = i % 32 / 4 ^ row;
    if (chunk >= 4) reinterpret_cast<uint32_t*>(box)[i] = 1;
  }
  __syncthreads();
  mbarrier_wait(&full, 0);
  for (uint32_t i = threadIdx.x; i < 4 * 128 / 4; i += 32)
    out[i] = reinterpret_cast<const uint32_t*>(box)[i];
}

/// Two boxes of 64 rows and 32 columns of int32, one after the other through one buffer, added up.
template <int kFault>
__global__ void sum_boxes(const __grid_constant__ TensorMap map,
                          const __grid_constant__ TensorMap garbage, int* out) {
  constexpr int kRows = 64;
  constexpr int kColumns = 32;
  constexpr uint32_t kBytes = kRows * kColumns * 4;
  ROOFTILE_DYNAMIC_SHARED(shared);
  __shared__ Mbarrier full[2];
  if (threadIdx.x == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
    if (kFault != no_init_fence) fence_mbarrier_init();
  }
  __syncthreads();
  unsigned char* const to = shared + (kFault == misaligned_box  ? 64
                                      : kFault == beyond_shared ? 1024
                                                                : 0);
  int sum = 0;
  for (int box = 0; box < 2; ++box) {
    if (threadIdx.x == 0) {
      const uint32_t wrong = kFault == too_few_bytes    ? kBytes / 2
                             : kFault == too_many_bytes ? kBytes + 64
                                                        : kBytes;
      mbarrier_arrive_expect_tx(&full[0], wrong);
      if (kFault == no_map)
        tma_load(to, &garbage, &full[0], box_at(0, box * kRows));
      else if (kFault == other_rank)
        tma_load(to, &map, &full[0], box_at(0, box * kRows, 0));
      else
        tma_load(to, &map, &full[0], box_at(kFault == odd_coordinate ? 1 : 0, box * kRows));
    }
    if (kFault == nobody_waits) return;
    const auto parity = static_cast<uint32_t>(box);
    if (kFault != no_wait) mbarrier_wait(&full[0], kFault == wrong_parity ? parity ^ 1 : parity);
    const int* numbers = reinterpret_cast<const int*>(to);
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kColumns; i += 128) sum += numbers[i];
    if (kFault != loads_over_readers) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

/// Each thread writes a row of 32 numbers; one thread stores them all, twice.
template <int kFault>
__global__ void store_boxes(const __grid_constant__ TensorMap map, int* out) {
  ROOFTILE_DYNAMIC_SHARED(shared);
  int* const numbers = reinterpret_cast<int*>(shared);
  for (int box = 0; box < 2; ++box) {
    for (int i = 0; i < 32; ++i)
      numbers[threadIdx.x * 32 + i] = static_cast<int>(threadIdx.x) * 100 + i + box * 10000;
    if (kFault != no_proxy_fence) fence_proxy_async_shared();
    if (kFault != no_sync) __syncthreads();
    if (threadIdx.x == 0) {
      tma_store(&map, box_at(0, kFault == negative ? -1 : box * 64), shared);
      if (kFault != no_commit) bulk_commit();
      if (kFault != no_read_wait) bulk_wait_read<0>();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    if (kFault != result_before_wait) bulk_wait<0>();
    out[64 * 32 * 2] = out[3];
  }
}

template <int kOp>
__global__ void reduce_box(const __grid_constant__ TensorMap map, const uint32_t* in) {
  ROOFTILE_DYNAMIC_SHARED(box);
  reinterpret_cast<uint32_t*>(box)[threadIdx.x] = in[threadIdx.x];
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (kOp == 0) tma_reduce_add(&map, box_at(0, 0), box);
  if (kOp == 1) tma_reduce_min(&map, box_at(0, 0), box);
  if (kOp == 2) tma_reduce_max(&map, box_at(0, 0), box);
  if (kOp == 3) tma_reduce_xor(&map, box_at(0, 0), box);
  bulk_commit();
  bulk_wait<0>();
}

/// Of a tensor of one or two dimensions.
template <int kRank>
__global__ void store_box(const __grid_constant__ TensorMap map, const uint32_t* in) {
  ROOFTILE_DYNAMIC_SHARED(box);
  reinterpret_cast<uint32_t*>(box)[threadIdx.x] = in[threadIdx.x];
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if constexpr (kRank == 1)
    tma_store(&map, box_at(0), box);
  else
    tma_store(&map, box_at(0, 0), box);
  bulk_commit();
  bulk_wait<0>();
}

/// Numbers that the kernel itself writes to global memory, then loads.
template <int kFault>
__global__ void load_what_was_stored(const __grid_constant__ TensorMap map, int* global, int* out) {
  ROOFTILE_DYNAMIC_SHARED(box);
  __shared__ Mbarrier full;
  global[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  if (kFault != no_proxy_fence) fence_proxy_async();
  if (threadIdx.x == 0) mbarrier_init(&full, 1);
  fence_mbarrier_init();
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, 256);
    tma_load(box, &map, &full, box_at(0));
  }
  mbarrier_wait(&full, 0);
  out[threadIdx.x] = reinterpret_cast<const int*>(box)[threadIdx.x];
}

/// Each block of a cluster of two loads half of a tile for both.
template <int kFault>
__global__ void multicast(const __grid_constant__ TensorMap map, int* out) {
  ROOFTILE_DYNAMIC_SHARED(tile);
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, kFault == too_few_bytes ? 4096 : 8192);
    tma_load_multicast(tile + rank * 4096, &map, &full, 3, box_at(0, rank * 32));
  }
  if (!(kFault == no_wait && rank == 1)) mbarrier_wait(&full, 0);
  const int* numbers = reinterpret_cast<const int*>(tile);
  int sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < 2048; i += 64) sum += numbers[i];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  cluster_sync();
}

}  // namespace rooftile::tma_test
#endif

#define SUM_BOXES(fault) \
  ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::sum_boxes<rooftile::tma_test::fault>)
#define STORE_BOXES(fault) \
  ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::store_boxes<rooftile::tma_test::fault>)
ROOFTILE_KERNEL_TABLE(
    tma_kernels, ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_box<1>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_box<2>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_box<3>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_box<4>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_box<5>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_padded), SUM_BOXES(none), SUM_BOXES(no_wait),
    SUM_BOXES(wrong_parity), SUM_BOXES(too_few_bytes), SUM_BOXES(too_many_bytes),
    SUM_BOXES(no_init_fence), SUM_BOXES(misaligned_box), SUM_BOXES(beyond_shared),
    SUM_BOXES(loads_over_readers), SUM_BOXES(odd_coordinate), SUM_BOXES(no_map),
    SUM_BOXES(other_rank), SUM_BOXES(nobody_waits), STORE_BOXES(none), STORE_BOXES(no_proxy_fence),
    STORE_BOXES(no_sync), STORE_BOXES(no_read_wait), STORE_BOXES(no_commit),
    STORE_BOXES(result_before_wait), STORE_BOXES(negative),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::store_box<1>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::store_box<2>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::reduce_box<0>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::reduce_box<1>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::reduce_box<2>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::reduce_box<3>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::load_what_was_stored<rooftile::tma_test::none>),
    ROOFTILE_KERNEL_ENTRY(
        rooftile::tma_test::load_what_was_stored<rooftile::tma_test::no_proxy_fence>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::multicast<rooftile::tma_test::none>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::multicast<rooftile::tma_test::no_wait>),
    ROOFTILE_KERNEL_ENTRY(rooftile::tma_test::multicast<rooftile::tma_test::too_few_bytes>))
