// SPDX-License-Identifier: Apache-2.0
// Structs with padding, whose members are written one by one, and which are copied whole.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"

#include "tests/sim/struct_parameters.h"

#if ROOFTILE_DEVICE_CODE
namespace {

using namespace rooftile::struct_test;

__device__ void set(Narrow& to, int i, bool is_whole) {
  to.tag = static_cast<char>(i);
  if (is_whole) to.value = i;
}
__device__ void set(Wide& to, int i, bool is_whole) {
  to.first = i;
  if (is_whole) to.value = i;
  to.last = i;
}

// 1: one struct of shared memory lacks a member; 2: one of global memory.
template <class T, int kFault>
__global__ void copy_structs(T* left, T* out) {
  __shared__ T items[32];
  const int t = static_cast<int>(threadIdx.x);
  set(items[t], t, kFault != 1 || t != 5);
  set(left[t], t, kFault != 2 || t != 5);
  __syncthreads();
  out[t] = items[31 - t];
  out[32 + t] = left[31 - t];
}

}  // namespace
#endif

#define ENTRY ROOFTILE_KERNEL_ENTRY
ROOFTILE_KERNEL_TABLE(struct_kernels, ENTRY(copy_structs<Narrow, 0>),
                      ENTRY(copy_structs<Narrow, 1>), ENTRY(copy_structs<Narrow, 2>),
                      ENTRY(copy_structs<Wide, 0>), ENTRY(copy_structs<Wide, 1>),
                      ENTRY(copy_structs<Wide, 2>))
