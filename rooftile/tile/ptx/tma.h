// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of a tensor between global and shared memory (TMA). One thread issues them; a box
// that reaches out of the tensor is filled at a load and cut at a store (to 16 bytes). The box in
// shared memory is dense, swizzled as the map says; with a swizzle a row takes the swizzle's whole
// width. Source: PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "Tensors".
#pragma once

#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/cache_hint.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/shared_address.h"
#include "rooftile/tile/tensor_map.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// The element of the tensor where a box begins, innermost coordinate first. It may be outside. The
/// innermost one must lie at a multiple of 16 bytes: elsewhere an H200 stops.
template <int kRank>
struct BoxAt {
  int32_t at[kRank];
};
template <class... Coordinate>
__device__ __forceinline__ BoxAt<static_cast<int>(sizeof...(Coordinate))> box_at(Coordinate... at) {
  return {{static_cast<int32_t>(at)...}};
}

/// cp.async.bulk.tensor.Nd, global to shared memory at a multiple of 128 bytes; counts the box's
/// bytes (filled ones too) on `barrier`.
template <int kRank>
__device__ __forceinline__ void tma_load(void* destination, const TensorMap* map, Mbarrier* barrier,
                                         BoxAt<kRank> at,
                                         CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  if constexpr (kRank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4}], [%2], %3;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "l"(hint), "r"(at.at[0])
        : "memory");
  if constexpr (kRank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "l"(hint), "r"(at.at[0]), "r"(at.at[1])
        : "memory");
  if constexpr (kRank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),
        "r"(at.at[2])
        : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),
        "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]),
        "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
        : "memory");
#else
  (void)hint;
  sim::tma_load(destination, map, kRank, at.at, barrier, 0);
#endif
}

/// The same with .multicast::cluster: into each block of the cluster whose bit is set in `blocks`,
/// at the same places of its shared memory, for its own barrier.
template <int kRank>
__device__ __forceinline__ void tma_load_multicast(void* destination, const TensorMap* map,
                                                   Mbarrier* barrier, uint16_t blocks,
                                                   BoxAt<kRank> at,
                                                   CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  if constexpr (kRank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%5}], [%2], %3, %4;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "h"(blocks), "l"(hint), "r"(at.at[0])
        : "memory");
  if constexpr (kRank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6}], [%2], %3, %4;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "h"(blocks), "l"(hint), "r"(at.at[0]), "r"(at.at[1])
        : "memory");
  if constexpr (kRank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7}], [%2], %3, %4;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "h"(blocks), "l"(hint), "r"(at.at[0]),
        "r"(at.at[1]), "r"(at.at[2])
        : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7, %8}], [%2], %3, %4;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "h"(blocks), "l"(hint), "r"(at.at[0]),
        "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7, %8, %9}], [%2], %3, %4;" ::"r"(
            shared_address(destination)),
        "l"(map), "r"(shared_address(barrier)), "h"(blocks), "l"(hint), "r"(at.at[0]),
        "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
        : "memory");
#else
  (void)hint;
  sim::tma_load(destination, map, kRank, at.at, barrier, blocks);
#endif
}

/// cp.async.bulk.tensor.Nd, shared to global memory, in this thread's open bulk group. Of a row
/// that ends within 16 bytes of the box an H200 writes all 16: what lies behind the tensor's row
/// must be the kernel's to write.
template <int kRank>
__device__ __forceinline__ void tma_store(const TensorMap* map, BoxAt<kRank> at, const void* source,
                                          CacheHint hint = CacheHint::evict_normal) {
#ifdef __CUDACC__
  if constexpr (kRank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%3}], [%1], %2;" ::"l"(map),
        "r"(shared_address(source)), "l"(hint), "r"(at.at[0])
        : "memory");
  if constexpr (kRank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%3, %4}], [%1], %2;" ::"l"(map),
        "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1])
        : "memory");
  if constexpr (kRank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%3, %4, %5}], [%1], %2;" ::"l"(map),
        "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
        : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%3, %4, %5, %6}], [%1], %2;" ::"l"(map),
        "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "r"(at.at[3])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint"
        " [%0, {%3, %4, %5, %6, %7}], [%1], %2;" ::"l"(map),
        "r"(shared_address(source)), "l"(hint), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]),
        "r"(at.at[3]), "r"(at.at[4])
        : "memory");
#else
  (void)hint;
  sim::tma_store(map, kRank, at.at, source);
#endif
}

/// cp.async.bulk.prefetch.tensor: the box to L2.
template <int kRank>
__device__ __forceinline__ void tma_prefetch(const TensorMap* map, BoxAt<kRank> at) {
#ifdef __CUDACC__
  if constexpr (kRank == 1)
    asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(map),
                 "r"(at.at[0])
                 : "memory");
  if constexpr (kRank == 2)
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map),
                 "r"(at.at[0]), "r"(at.at[1])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map),
                 "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(map),
        "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(map),
        "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4])
        : "memory");
#else
  sim::tma_prefetch(map, kRank, at.at);
#endif
}

/// prefetch.tensormap: the descriptor itself, a kernel's parameter.
__device__ __forceinline__ void tensor_map_prefetch(const TensorMap* map) {
#ifdef __CUDACC__
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#else
  sim::tensor_map_prefetch(map);
#endif
}

}  // namespace rooftile
