// SPDX-License-Identifier: Apache-2.0
// Accesses that threads synchronise with: loads that acquire, stores that release, atomic
// operations, each with the scope of those that take part. Of 4 and 8 byte integers. Source: PTX
// ISA, "ld", "st", "atom", "red", "Memory Consistency Model".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

/// Who takes part: threads of the cluster, of the device, of all devices and the host.
enum class StrongScope : uint8_t { cluster, device, system };

#ifdef __CUDACC__
#define ROOFTILE_STRONG_LOAD(name, ptx, acquires)                                           \
  template <StrongScope kScope = StrongScope::device, class T>                              \
  __device__ __forceinline__ T name(const T* address) {                                     \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);                                        \
    T value;                                                                                \
    if constexpr (sizeof(T) == 4) {                                                         \
      if constexpr (kScope == StrongScope::cluster)                                         \
        asm volatile(ptx ".cluster.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory"); \
      if constexpr (kScope == StrongScope::device)                                          \
        asm volatile(ptx ".gpu.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");     \
      if constexpr (kScope == StrongScope::system)                                          \
        asm volatile(ptx ".sys.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");     \
    } else {                                                                                \
      if constexpr (kScope == StrongScope::cluster)                                         \
        asm volatile(ptx ".cluster.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory"); \
      if constexpr (kScope == StrongScope::device)                                          \
        asm volatile(ptx ".gpu.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");     \
      if constexpr (kScope == StrongScope::system)                                          \
        asm volatile(ptx ".sys.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");     \
    }                                                                                       \
    return value;                                                                           \
  }
#define ROOFTILE_STRONG_STORE(name, ptx, releases)                                        \
  template <StrongScope kScope = StrongScope::device, class T>                            \
  __device__ __forceinline__ void name(T* address, T value) {                             \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);                                      \
    if constexpr (sizeof(T) == 4) {                                                       \
      if constexpr (kScope == StrongScope::cluster)                                       \
        asm volatile(ptx ".cluster.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory"); \
      if constexpr (kScope == StrongScope::device)                                        \
        asm volatile(ptx ".gpu.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");     \
      if constexpr (kScope == StrongScope::system)                                        \
        asm volatile(ptx ".sys.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");     \
    } else {                                                                              \
      if constexpr (kScope == StrongScope::cluster)                                       \
        asm volatile(ptx ".cluster.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory"); \
      if constexpr (kScope == StrongScope::device)                                        \
        asm volatile(ptx ".gpu.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");     \
      if constexpr (kScope == StrongScope::system)                                        \
        asm volatile(ptx ".sys.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");     \
    }                                                                                     \
  }
#define ROOFTILE_STRONG_ADD(name, ptx)                                          \
  template <StrongScope kScope = StrongScope::device>                           \
  __device__ __forceinline__ uint32_t name(uint32_t* address, uint32_t value) { \
    uint32_t old;                                                               \
    if constexpr (kScope == StrongScope::cluster)                               \
      asm volatile(ptx ".cluster.add.u32 %0, [%1], %2;"                         \
                   : "=r"(old)                                                  \
                   : "l"(address), "r"(value)                                   \
                   : "memory");                                                 \
    if constexpr (kScope == StrongScope::device)                                \
      asm volatile(ptx ".gpu.add.u32 %0, [%1], %2;"                             \
                   : "=r"(old)                                                  \
                   : "l"(address), "r"(value)                                   \
                   : "memory");                                                 \
    if constexpr (kScope == StrongScope::system)                                \
      asm volatile(ptx ".sys.add.u32 %0, [%1], %2;"                             \
                   : "=r"(old)                                                  \
                   : "l"(address), "r"(value)                                   \
                   : "memory");                                                 \
    return old;                                                                 \
  }
#define ROOFTILE_STRONG_REDUCE(name, ptx)                                                   \
  template <StrongScope kScope = StrongScope::device>                                       \
  __device__ __forceinline__ void name(uint32_t* address, uint32_t value) {                 \
    if constexpr (kScope == StrongScope::cluster)                                           \
      asm volatile(ptx ".cluster.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory"); \
    if constexpr (kScope == StrongScope::device)                                            \
      asm volatile(ptx ".gpu.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");     \
    if constexpr (kScope == StrongScope::system)                                            \
      asm volatile(ptx ".sys.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");     \
  }
#else
constexpr sim::Scope sim_scope(StrongScope scope) {
  return scope == StrongScope::cluster  ? sim::Scope::cluster
         : scope == StrongScope::device ? sim::Scope::device
                                        : sim::Scope::system;
}
#define ROOFTILE_STRONG_LOAD(name, ptx, acquires)                                                \
  template <StrongScope kScope = StrongScope::device, class T>                                   \
  inline T name(const T* address) {                                                              \
    return sim::from_bits<T>(sim::strong_load(address, sizeof(T), acquires, sim_scope(kScope))); \
  }
#define ROOFTILE_STRONG_STORE(name, ptx, releases)                                           \
  template <StrongScope kScope = StrongScope::device, class T>                               \
  inline void name(T* address, T value) {                                                    \
    sim::strong_store(address, sizeof(T), sim::bits_of(value), releases, sim_scope(kScope)); \
  }
#define ROOFTILE_STRONG_ADD(name, ptx)                                                           \
  template <StrongScope kScope = StrongScope::device>                                            \
  inline uint32_t name(uint32_t* address, uint32_t value) {                                      \
    return static_cast<uint32_t>(sim::atomic(sim::Atomic::add, sim::Number::unsigned_integer, 4, \
                                             address, value, 0, true, sim_scope(kScope)));       \
  }
#define ROOFTILE_STRONG_REDUCE(name, ptx)                                                    \
  template <StrongScope kScope = StrongScope::device>                                        \
  inline void name(uint32_t* address, uint32_t value) {                                      \
    sim::atomic(sim::Atomic::add, sim::Number::unsigned_integer, 4, address, value, 0, true, \
                sim_scope(kScope));                                                          \
  }
#endif

ROOFTILE_STRONG_LOAD(load_acquire, "ld.acquire", true)
ROOFTILE_STRONG_LOAD(load_relaxed, "ld.relaxed", false)
ROOFTILE_STRONG_STORE(store_release, "st.release", true)
ROOFTILE_STRONG_STORE(store_relaxed, "st.relaxed", false)
/// atom.acq_rel.add: the old value.
ROOFTILE_STRONG_ADD(atomic_add_acquire_release, "atom.acq_rel")
/// red.release.add
ROOFTILE_STRONG_REDUCE(reduce_add_release, "red.release")
#undef ROOFTILE_STRONG_LOAD
#undef ROOFTILE_STRONG_STORE
#undef ROOFTILE_STRONG_ADD
#undef ROOFTILE_STRONG_REDUCE

}  // namespace rooftile
