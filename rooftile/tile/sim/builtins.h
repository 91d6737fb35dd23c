// SPDX-License-Identifier: Apache-2.0
// The qualifiers, built-in variables and functions of CUDA C++ for the simulator. Source: CUDA C++
// Programming Guide, "C++ Language Extensions".
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "rooftile/tile/sim/launch_bounds.h"
#include "rooftile/tile/sim/memory.h"
#include "rooftile/tile/sim/runtime.h"
#include "rooftile/tile/sim/vector_types.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // the host's headers write __attribute__((__noinline__))
// Why not alignas: it may not stand behind __shared__, where CUDA's may.
#define __align__(n) __attribute__((aligned(n)))
// Why: one OS thread runs a block at a time, so its thread-local variables are the block's. What a
// file never writes, the compiler would take for 0: it is asked for all the same.
#define __shared__ __attribute__((used)) thread_local

#define threadIdx (::rooftile::sim::coordinates<offsetof(::rooftile::sim::FiberContext, thread)>())
#define blockIdx (::rooftile::sim::coordinates<offsetof(::rooftile::sim::FiberContext, block)>())
#define blockDim \
  (::rooftile::sim::coordinates<offsetof(::rooftile::sim::FiberContext, block_dim)>())
#define gridDim (::rooftile::sim::coordinates<offsetof(::rooftile::sim::FiberContext, grid_dim)>())
constexpr int warpSize = 32;

inline void __syncthreads() { rooftile::sim::sync_block(rooftile::sim::BlockVote::none, 0); }
inline int __syncthreads_count(int predicate) {
  return rooftile::sim::sync_block(rooftile::sim::BlockVote::count, predicate);
}
inline int __syncthreads_and(int predicate) {
  return rooftile::sim::sync_block(rooftile::sim::BlockVote::all, predicate);
}
inline int __syncthreads_or(int predicate) {
  return rooftile::sim::sync_block(rooftile::sim::BlockVote::any, predicate);
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { rooftile::sim::sync_warp(mask); }
inline void __threadfence_block() { rooftile::sim::fence(rooftile::sim::Scope::block); }
inline void __threadfence() { rooftile::sim::fence(rooftile::sim::Scope::device); }
inline void __threadfence_system() { rooftile::sim::fence(rooftile::sim::Scope::system); }
inline unsigned __activemask() { return rooftile::sim::active_mask(); }
inline void __nanosleep(unsigned) { rooftile::sim::yield(); }
inline long long clock64() { return static_cast<long long>(rooftile::sim::clock()); }
[[noreturn]] inline void __trap() { rooftile::sim::trap("__trap()"); }

namespace rooftile::sim {
/// A value of up to 8 bytes as bits, and back. Why builtins: memcpy would be instrumented.
template <class T>
inline uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
inline T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
inline T shuffled(Shuffle kind, unsigned mask, T value, int operand, int width) {
  return from_bits<T>(shuffle(kind, mask, bits_of(value), operand, width));
}
template <class T>
constexpr Number number_of() {
  if constexpr (std::is_floating_point_v<T>) return Number::floating_point;
  return std::is_signed_v<T> ? Number::signed_integer : Number::unsigned_integer;
}
template <class T>
inline T atomic_of(Atomic op, T* address, T value, T compare = {}) {
  return from_bits<T>(
      atomic(op, number_of<T>(), sizeof(T), address, bits_of(value), bits_of(compare), false));
}
}  // namespace rooftile::sim

template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return rooftile::sim::shuffled(rooftile::sim::Shuffle::index, mask, value, lane, width);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return rooftile::sim::shuffled(rooftile::sim::Shuffle::up, mask, value, static_cast<int>(delta),
                                 width);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return rooftile::sim::shuffled(rooftile::sim::Shuffle::down, mask, value, static_cast<int>(delta),
                                 width);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  return rooftile::sim::shuffled(rooftile::sim::Shuffle::exclusive_or, mask, value, lanes, width);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return rooftile::sim::vote(rooftile::sim::Vote::ballot, mask, predicate != 0);
}
inline int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(rooftile::sim::vote(rooftile::sim::Vote::all, mask, predicate != 0));
}
inline int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(rooftile::sim::vote(rooftile::sim::Vote::any, mask, predicate != 0));
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value) {
  return rooftile::sim::vote(rooftile::sim::Vote::match_any, mask, rooftile::sim::bits_of(value));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* is_equal) {
  const unsigned lanes =
      rooftile::sim::vote(rooftile::sim::Vote::match_all, mask, rooftile::sim::bits_of(value));
  *is_equal = lanes != 0;
  return lanes;
}

#define ROOFTILE_REDUCE(name, type, kind)                                                        \
  inline type name(unsigned mask, type value) {                                                  \
    return static_cast<type>(                                                                    \
        rooftile::sim::reduce(rooftile::sim::Reduce::kind, mask, static_cast<uint32_t>(value))); \
  }
ROOFTILE_REDUCE(__reduce_add_sync, unsigned, add)
ROOFTILE_REDUCE(__reduce_add_sync, int, add)
ROOFTILE_REDUCE(__reduce_min_sync, unsigned, min_unsigned)
ROOFTILE_REDUCE(__reduce_min_sync, int, min_signed)
ROOFTILE_REDUCE(__reduce_max_sync, unsigned, max_unsigned)
ROOFTILE_REDUCE(__reduce_max_sync, int, max_signed)
ROOFTILE_REDUCE(__reduce_and_sync, unsigned, bit_and)
ROOFTILE_REDUCE(__reduce_or_sync, unsigned, bit_or)
ROOFTILE_REDUCE(__reduce_xor_sync, unsigned, bit_xor)
#undef ROOFTILE_REDUCE

#define ROOFTILE_ATOMIC(name, op, type)                                         \
  inline type name(type* address, type value) {                                 \
    return rooftile::sim::atomic_of(rooftile::sim::Atomic::op, address, value); \
  }
#define ROOFTILE_ATOMIC_INTEGERS(name, op) \
  ROOFTILE_ATOMIC(name, op, int)           \
  ROOFTILE_ATOMIC(name, op, unsigned)      \
  ROOFTILE_ATOMIC(name, op, unsigned long long)
ROOFTILE_ATOMIC_INTEGERS(atomicAdd, add)
ROOFTILE_ATOMIC(atomicAdd, add, float)
ROOFTILE_ATOMIC(atomicAdd, add, double)
ROOFTILE_ATOMIC_INTEGERS(atomicMin, min)
ROOFTILE_ATOMIC(atomicMin, min, long long)
ROOFTILE_ATOMIC_INTEGERS(atomicMax, max)
ROOFTILE_ATOMIC(atomicMax, max, long long)
ROOFTILE_ATOMIC_INTEGERS(atomicExch, exchange)
ROOFTILE_ATOMIC(atomicExch, exchange, float)
ROOFTILE_ATOMIC_INTEGERS(atomicAnd, bit_and)
ROOFTILE_ATOMIC_INTEGERS(atomicOr, bit_or)
ROOFTILE_ATOMIC_INTEGERS(atomicXor, bit_xor)
ROOFTILE_ATOMIC(atomicInc, increment, unsigned)
ROOFTILE_ATOMIC(atomicDec, decrement, unsigned)
#undef ROOFTILE_ATOMIC_INTEGERS
#undef ROOFTILE_ATOMIC
inline int atomicSub(int* address, int value) { return atomicAdd(address, -value); }
inline unsigned atomicSub(unsigned* address, unsigned value) {
  return atomicAdd(address, 0u - value);
}
template <class T>
inline T atomicCAS(T* address, T compare, T value) {
  return rooftile::sim::atomic_of(rooftile::sim::Atomic::compare_exchange, address, value, compare);
}

template <class T>
inline T __ldg(const T* address) {
  rooftile::sim::check_constant(address, sizeof(T));
  return *address;
}
template <class T>
inline T __ldcs(const T* address) {
  return *address;
}
template <class T>
inline void __stcs(T* address, T value) {
  *address = value;
}
