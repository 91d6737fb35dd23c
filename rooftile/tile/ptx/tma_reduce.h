// SPDX-License-Identifier: Apache-2.0
// Boxes of shared memory that are combined with those of a tensor in global memory, element by
// element and atomically. Source: PTX ISA, "cp.reduce.async.bulk.tensor"; which operation takes
// which element type: "cp.reduce.async.bulk", table of valid combinations.
#pragma once

#include "rooftile/tile/ptx/tma.h"

namespace rooftile {

#ifdef __CUDACC__
#define ROOFTILE_TMA_REDUCE(name, ptx, op)                                                        \
  template <int kRank>                                                                            \
  __device__ __forceinline__ void name(const TensorMap* map, BoxAt<kRank> at, const void* source, \
                                       CacheHint hint = CacheHint::evict_normal) {                \
    if constexpr (kRank == 1)                                                                     \
      asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta." ptx                       \
                   ".tile.bulk_group.L2::cache_hint"                                              \
                   " [%0, {%3}], [%1], %2;" ::"l"(map),                                           \
                   "r"(shared_address(source)), "l"(hint), "r"(at.at[0])                          \
                   : "memory");                                                                   \
    if constexpr (kRank == 2)                                                                     \
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." ptx                       \
                   ".tile.bulk_group.L2::cache_hint"                                              \
                   " [%0, {%3, %4}], [%1], %2;" ::"l"(map),                                       \
                   "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1])           \
                   : "memory");                                                                   \
    if constexpr (kRank == 3)                                                                     \
      asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta." ptx                       \
                   ".tile.bulk_group.L2::cache_hint"                                              \
                   " [%0, {%3, %4, %5}], [%1], %2;" ::"l"(map),                                   \
                   "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),          \
                   "r"(at.at[2])                                                                  \
                   : "memory");                                                                   \
    if constexpr (kRank == 4)                                                                     \
      asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta." ptx                       \
                   ".tile.bulk_group.L2::cache_hint"                                              \
                   " [%0, {%3, %4, %5, %6}], [%1], %2;" ::"l"(map),                               \
                   "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),          \
                   "r"(at.at[2]), "r"(at.at[3])                                                   \
                   : "memory");                                                                   \
    if constexpr (kRank == 5)                                                                     \
      asm volatile("cp.reduce.async.bulk.tensor.5d.global.shared::cta." ptx                       \
                   ".tile.bulk_group.L2::cache_hint"                                              \
                   " [%0, {%3, %4, %5, %6, %7}], [%1], %2;" ::"l"(map),                           \
                   "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),          \
                   "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])                                    \
                   : "memory");                                                                   \
  }
#else
#define ROOFTILE_TMA_REDUCE(name, ptx, op)                                    \
  template <int kRank>                                                        \
  inline void name(const TensorMap* map, BoxAt<kRank> at, const void* source, \
                   CacheHint = CacheHint::evict_normal) {                     \
    sim::tma_reduce(sim::Atomic::op, map, kRank, at.at, source);              \
  }
#endif

/// In this thread's open bulk group. Integers wrap; add, min and max also of fp16 and bf16, add of
/// f32.
ROOFTILE_TMA_REDUCE(tma_reduce_add, "add", add)
ROOFTILE_TMA_REDUCE(tma_reduce_min, "min", min)
ROOFTILE_TMA_REDUCE(tma_reduce_max, "max", max)
ROOFTILE_TMA_REDUCE(tma_reduce_and, "and", bit_and)
ROOFTILE_TMA_REDUCE(tma_reduce_or, "or", bit_or)
ROOFTILE_TMA_REDUCE(tma_reduce_xor, "xor", bit_xor)
#undef ROOFTILE_TMA_REDUCE

}  // namespace rooftile
