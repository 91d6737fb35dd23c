// SPDX-License-Identifier: Apache-2.0
// Kernels of cp_async_test.cc: right ones, and copies of them with one fault each.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/ptx/cp_async.h"
#include "rooftile/tile/ptx/mbarrier.h"

#if ROOFTILE_DEVICE_CODE
namespace rooftile::cp_async_test {

enum Fault { none, no_wait, waits_for_too_few, no_sync, never_waits, misaligned, beyond_global };

/// Sums of neighbours, of tiles that come through two buffers.
template <int kFault>
__global__ void neighbours(const float4* in, float* out, int tiles) {
  __shared__ float4 buffer[2][64];
  const auto fetch = [&](int tile) {
    const auto* from = reinterpret_cast<const char*>(in + tile * 64 + threadIdx.x) +
                       (kFault == misaligned ? 4 : 0);
    if (tile < tiles || kFault == beyond_global) cp_async<16>(&buffer[tile % 2][threadIdx.x], from);
    cp_async_commit();
  };
  fetch(0);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    if (kFault == never_waits) continue;
    if (kFault == waits_for_too_few)
      cp_async_wait<2>();
    else if (kFault != no_wait)
      cp_async_wait<1>();
    if (kFault != no_sync) __syncthreads();
    sum += buffer[tile % 2][threadIdx.x ^ 63].y + buffer[tile % 2][threadIdx.x].x;
    if (kFault != no_sync) __syncthreads();
  }
  if (kFault != never_waits) cp_async_wait_all();
  out[threadIdx.x] = sum;
}

/// 4, 8 and 16 bytes, of which the last are zeros; waited for through an mbarrier.
template <bool kCounted>
__global__ void fill(const uint32_t* in, uint32_t* out) {
  __shared__ __align__(16) uint32_t words[32 * 8];
  __shared__ Mbarrier full;
  if (threadIdx.x == 0) mbarrier_init(&full, kCounted ? 32 : 1);
  __syncthreads();
  uint32_t* const mine = words + threadIdx.x * 8;
  cp_async<4>(mine, in + threadIdx.x);
  cp_async<4>(mine + 1, in + threadIdx.x, 0);
  cp_async<8>(mine + 2, in + threadIdx.x * 2, 4);
  cp_async_cg(mine + 4, in + threadIdx.x * 4, 12);
  if (kCounted)
    cp_async_arrive_noinc(&full);
  else
    cp_async_arrive(&full);
  if (!kCounted) {
    __syncthreads();
    if (threadIdx.x == 0) mbarrier_arrive(&full);
  }
  mbarrier_wait(&full, 0);
  const uint32_t* other = words + (threadIdx.x ^ 31) * 8;
  for (int i = 0; i < 8; ++i) out[(threadIdx.x ^ 31) * 8 + i] = other[i];
}

}  // namespace rooftile::cp_async_test
#endif

#define NEIGHBOURS(fault) \
  ROOFTILE_KERNEL_ENTRY(rooftile::cp_async_test::neighbours<rooftile::cp_async_test::fault>)
ROOFTILE_KERNEL_TABLE(cp_async_kernels, NEIGHBOURS(none), NEIGHBOURS(no_wait),
                      NEIGHBOURS(waits_for_too_few), NEIGHBOURS(no_sync), NEIGHBOURS(never_waits),
                      NEIGHBOURS(misaligned), NEIGHBOURS(beyond_global),
                      ROOFTILE_KERNEL_ENTRY(rooftile::cp_async_test::fill<true>),
                      ROOFTILE_KERNEL_ENTRY(rooftile::cp_async_test::fill<false>))
