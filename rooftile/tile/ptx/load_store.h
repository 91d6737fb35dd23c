// SPDX-License-Identifier: Apache-2.0
// Loads and stores of 4, 8 or 16 bytes of global memory that say how the caches should treat them.
// To the simulator they are plain accesses of the same width, constant ones of what the kernel
// itself has not written. Source: PTX ISA, "ld", "ld.global.nc", "st", "Cache Operators", "Cache
// Eviction Priority Hints".
#pragma once

#include "rooftile/tile/language.h"

namespace rooftile {

#ifdef __CUDACC__
#define ROOFTILE_LOAD(name, ptx)                                                              \
  template <class T>                                                                          \
  __device__ __forceinline__ T name(const T* address) {                                       \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);                       \
    union {                                                                                   \
      uint32_t word[sizeof(T) / 4];                                                           \
      T value;                                                                                \
    } data;                                                                                   \
    const auto from = __cvta_generic_to_global(address);                                      \
    if constexpr (sizeof(T) == 4)                                                             \
      asm volatile(ptx ".b32 %0, [%1];" : "=r"(data.word[0]) : "l"(from) : "memory");         \
    if constexpr (sizeof(T) == 8)                                                             \
      asm volatile(ptx ".v2.b32 {%0, %1}, [%2];"                                              \
                   : "=r"(data.word[0]), "=r"(data.word[sizeof(T) / 8])                       \
                   : "l"(from)                                                                \
                   : "memory");                                                               \
    if constexpr (sizeof(T) == 16)                                                            \
      asm volatile(ptx ".v4.b32 {%0, %1, %2, %3}, [%4];"                                      \
                   : "=r"(data.word[0]), "=r"(data.word[sizeof(T) / 16]),                     \
                     "=r"(data.word[sizeof(T) / 16 * 2]), "=r"(data.word[sizeof(T) / 16 * 3]) \
                   : "l"(from)                                                                \
                   : "memory");                                                               \
    return data.value;                                                                        \
  }
#define ROOFTILE_LOAD_CONSTANT ROOFTILE_LOAD
#define ROOFTILE_STORE(name, ptx)                                                      \
  template <class T>                                                                   \
  __device__ __forceinline__ void name(T* address, T value) {                          \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);                \
    union {                                                                            \
      T value;                                                                         \
      uint32_t word[sizeof(T) / 4];                                                    \
    } data{value};                                                                     \
    const auto to = __cvta_generic_to_global(address);                                 \
    if constexpr (sizeof(T) == 4)                                                      \
      asm volatile(ptx ".b32 [%0], %1;" ::"l"(to), "r"(data.word[0]) : "memory");      \
    if constexpr (sizeof(T) == 8)                                                      \
      asm volatile(ptx ".v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(data.word[0]),         \
                   "r"(data.word[sizeof(T) / 8])                                       \
                   : "memory");                                                        \
    if constexpr (sizeof(T) == 16)                                                     \
      asm volatile(ptx ".v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(data.word[0]), \
                   "r"(data.word[sizeof(T) / 16]), "r"(data.word[sizeof(T) / 16 * 2]), \
                   "r"(data.word[sizeof(T) / 16 * 3])                                  \
                   : "memory");                                                        \
  }
#else
#define ROOFTILE_LOAD(name, ptx)    \
  template <class T>                \
  inline T name(const T* address) { \
    return *address;                \
  }
#define ROOFTILE_LOAD_CONSTANT(name, ptx)              \
  template <class T>                                   \
  inline T name(const T* address) {                    \
    sim::check_constant(address, uint32_t{sizeof(T)}); \
    return *address;                                   \
  }
#define ROOFTILE_STORE(name, ptx)         \
  template <class T>                      \
  inline void name(T* address, T value) { \
    *address = value;                     \
  }
#endif

/// Memory that nobody writes while the kernel runs (.nc): plain, not kept in L1, kept in L1.
ROOFTILE_LOAD_CONSTANT(load_constant, "ld.global.nc")
ROOFTILE_LOAD_CONSTANT(load_constant_no_l1, "ld.global.nc.L1::no_allocate")
ROOFTILE_LOAD_CONSTANT(load_constant_kept, "ld.global.nc.L1::evict_last")
/// Other memory: not kept in L1, probably read once, from L2.
ROOFTILE_LOAD(load_no_l1, "ld.global.L1::no_allocate")
ROOFTILE_LOAD(load_streaming, "ld.global.cs")
ROOFTILE_LOAD(load_from_l2, "ld.global.cg")

/// A plain store that stays one.
ROOFTILE_STORE(store_whole, "st.global")
ROOFTILE_STORE(store_no_l1, "st.global.L1::no_allocate")
ROOFTILE_STORE(store_streaming, "st.global.cs")
ROOFTILE_STORE(store_to_l2, "st.global.cg")
#undef ROOFTILE_LOAD
#undef ROOFTILE_LOAD_CONSTANT
#undef ROOFTILE_STORE

}  // namespace rooftile
