// SPDX-License-Identifier: Apache-2.0
// Bytes of shared memory that the asynchronous engine combines with global memory, or with the
// shared memory of a block of the cluster: element by element, atomically. Addresses and sizes are
// multiples of 16 bytes. Source: PTX ISA, "cp.reduce.async.bulk".
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/tile/ptx/bulk_copy.h"

namespace rooftile {

#ifdef __CUDACC__
#define ROOFTILE_BULK_REDUCE(name, op, ptx, type, number)                                       \
  __device__ __forceinline__ void name(type* destination, const type* source, uint32_t bytes) { \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." ptx                      \
                 " [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(destination)),               \
                 "r"(shared_address(source)), "r"(bytes)                                        \
                 : "memory");                                                                   \
  }
#define ROOFTILE_BULK_REDUCE_CLUSTER(name, op, ptx, type, number)                             \
  __device__ __forceinline__ void name(type* destination, const type* source, uint32_t bytes, \
                                       Mbarrier* barrier) {                                   \
    asm volatile(                                                                             \
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." ptx  \
        " [%0], [%1], %2, [%3];" ::"r"(shared_address(destination)),                          \
        "r"(shared_address(source)), "r"(bytes), "r"(shared_address(barrier))                 \
        : "memory");                                                                          \
  }
#else
#define ROOFTILE_BULK_REDUCE(name, op, ptx, type, number)                                     \
  inline void name(type* destination, const type* source, uint32_t bytes) {                   \
    sim::bulk_reduce(sim::Atomic::op, sim::Number::number, sizeof(type), destination, source, \
                     bytes);                                                                  \
  }
#define ROOFTILE_BULK_REDUCE_CLUSTER(name, op, ptx, type, number)                              \
  inline void name(type* destination, const type* source, uint32_t bytes, Mbarrier* barrier) { \
    sim::bulk_reduce_cluster(sim::Atomic::op, sim::Number::number, sizeof(type), destination,  \
                             source, bytes, barrier);                                          \
  }
#endif

/// To global memory, in this thread's open bulk group.
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.f32", float, floating_point)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.f64", double, floating_point)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.noftz.f16", fp16, f16)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.noftz.bf16", bf16, bf16)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.u32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_add, add, "add.u64", uint64_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_min, min, "min.f16", fp16, f16)
ROOFTILE_BULK_REDUCE(bulk_reduce_min, min, "min.bf16", bf16, bf16)
ROOFTILE_BULK_REDUCE(bulk_reduce_min, min, "min.u32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_min, min, "min.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_max, max, "max.f16", fp16, f16)
ROOFTILE_BULK_REDUCE(bulk_reduce_max, max, "max.bf16", bf16, bf16)
ROOFTILE_BULK_REDUCE(bulk_reduce_max, max, "max.u32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_max, max, "max.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_and, bit_and, "and.b32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_or, bit_or, "or.b32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE(bulk_reduce_xor, bit_xor, "xor.b32", uint32_t, unsigned_integer)

/// To the shared memory of the block that `destination` and `barrier` belong to.
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_add_cluster, add, "add.u32", uint32_t, unsigned_integer)
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_add_cluster, add, "add.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_add_cluster, add, "add.u64", uint64_t, unsigned_integer)
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_min_cluster, min, "min.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_max_cluster, max, "max.s32", int32_t, signed_integer)
ROOFTILE_BULK_REDUCE_CLUSTER(bulk_reduce_or_cluster, bit_or, "or.b32", uint32_t, unsigned_integer)
#undef ROOFTILE_BULK_REDUCE
#undef ROOFTILE_BULK_REDUCE_CLUSTER

}  // namespace rooftile
