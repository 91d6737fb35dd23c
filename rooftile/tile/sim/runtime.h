// SPDX-License-Identifier: Apache-2.0
// What compiled kernels call in the simulator: the interface between the simulator pass of a .cu
// file and device/sim. Plain loads and stores do not appear: the compiler calls a hook for each.
#pragma once

#include <stdint.h>

#include <type_traits>
#include <utility>

#include "rooftile/base/api.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/sim/launch_bounds.h"
#include "rooftile/tile/tensor_map.h"

namespace rooftile {
namespace ROOFTILE_API sim {

/// Threads are fibers. The stack of one is aligned to its size, and its coordinates lie where it
/// begins, at its upper end, so that threadIdx costs an address calculation and no instrumented
/// load.
constexpr uintptr_t kStackBytes = uintptr_t{128} << 10;
/// What lies at the same place of all stacks falls into the same sets of a cache: hence the place
/// differs.
constexpr uintptr_t kStackColours = 64, kColourBytes = 256;
inline uintptr_t context_of_stack(uintptr_t base) {
  return base + kStackBytes - kColourBytes - base / kStackBytes % kStackColours * kColourBytes;
}

struct Coordinates {
  uint32_t x, y, z;
};

struct FiberContext {
  Coordinates thread, block, block_dim, grid_dim, cluster_block, cluster_dim;
};

inline uintptr_t stack_base() {
  uintptr_t stack_pointer;
  asm("mov %%rsp,%0" : "=r"(stack_pointer));
  return stack_pointer & ~(kStackBytes - 1);
}

/// Why assembly: the loads are not instrumented, and unused ones are removed. Why x and y at once:
/// the compiler keeps the struct in memory and copies it so, and what two stores wrote a load of
/// both waits for.
template <int kOffset>
inline Coordinates coordinates() {
  Coordinates c;
  const uintptr_t base = context_of_stack(stack_base());
  uint64_t x_and_y;
  asm("movq %c2(%1),%0" : "=r"(x_and_y) : "r"(base), "i"(kOffset));
  asm("movl %c2(%1),%0" : "=r"(c.z) : "r"(base), "i"(kOffset + 8));
  __builtin_memcpy(&c, &x_and_y, sizeof x_and_y);
  return c;
}

// --- warps
enum class Shuffle : uint8_t { index, up, down, exclusive_or };
enum class Vote : uint8_t { ballot, all, any, match_any, match_all };
enum class Reduce : uint8_t {
  add,
  min_signed,
  max_signed,
  min_unsigned,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor
};
uint64_t shuffle(Shuffle kind, uint32_t mask, uint64_t value, int operand, int width);
/// ballot, all, any: `value` is the predicate. match_all gives 0 where the values differ.
uint32_t vote(Vote kind, uint32_t mask, uint64_t value);
uint32_t reduce(Reduce kind, uint32_t mask, uint32_t value);
void sync_warp(uint32_t mask);
/// The lanes of the warp that have not returned, which all come here: lanes that another branch
/// keeps away are waited for in vain, a deadlock that is reported. (Which lanes run together
/// hardware does not define; those of a branch alone are not known here.)
uint32_t active_mask();

// --- blocks and clusters
enum class BlockVote : uint8_t { none, count, all, any };
int sync_block(BlockVote kind, int predicate);
void named_barrier_sync(int id, int threads);
void named_barrier_arrive(int id, int threads);
void cluster_arrive(bool releases);
void cluster_wait();

// --- memory
void* dynamic_shared();
/// The 32-bit address in the window of shared memory, and back.
uint32_t shared_address(const void* pointer);
void* shared_pointer(uint32_t address);
/// The same variable in another block of the cluster (mapa), as a generic pointer.
void* map_shared(const void* pointer, uint32_t block_rank);
enum class Scope : uint8_t { block, cluster, device, system };
void fence(Scope scope);
/// Before a load of memory that nobody may write while the kernel runs (ld.global.nc).
void check_constant(const void* address, uint32_t bytes);
enum class Atomic : uint8_t {
  add,
  min,
  max,
  exchange,
  compare_exchange,
  bit_and,
  bit_or,
  bit_xor,
  increment,
  decrement
};
enum class Number : uint8_t {
  unsigned_integer,
  signed_integer,
  floating_point,
  f16x2,
  bf16x2,
  f16,
  bf16
};
/// `bytes` is 2, 4 or 8. Returns the old value. `ordered`: acquire and release, not relaxed.
uint64_t atomic(Atomic op, Number type, int bytes, void* address, uint64_t value, uint64_t compare,
                bool ordered, Scope scope = Scope::device);
/// ld.acquire, ld.relaxed, st.release: strong accesses, that race with nothing strong.
uint64_t strong_load(const void* address, int bytes, bool acquire, Scope scope);
void strong_store(void* address, int bytes, uint64_t value, bool release, Scope scope);
/// Lets other threads run: what a loop that waits for memory calls.
void yield();
uint64_t clock();
/// __trap() and failed asserts: ends the launch with an error.
[[noreturn]] void trap(const char* why);
/// What the simulator lacks. Ends the launch with an error that names it and the line.
[[noreturn]] void unsupported(const char* feature);

// --- entries
/// CUDA C++ Programming Guide, "Function Parameters": of sm_70 and later, since CUDA 12.1.
constexpr size_t kMostParameterBytes = 32764;

template <auto kKernel, class... Parameters>
void call(void** args) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    kKernel(*static_cast<Parameters*>(args[i])...);
  }(std::index_sequence_for<Parameters...>{});
}

/// Where nvcc puts parameters: each at a multiple of its alignment.
template <class... Parameters>
constexpr size_t parameter_bytes() {
  size_t bytes = 0;
  ((bytes = (bytes + alignof(Parameters) - 1) / alignof(Parameters) * alignof(Parameters) +
            sizeof(Parameters)),
   ...);
  return bytes;
}

template <auto kKernel, class... Parameters>
KernelEntry entry(const char* name, void (*)(Parameters...)) {
  static_assert(parameter_bytes<Parameters...>() <= kMostParameterBytes,
                "a kernel has at most 32764 bytes of parameters");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "the parameters of a kernel are copied byte by byte");
  return {name, kernel_table::Signature<Parameters...>::kText.chars,
          reinterpret_cast<const void*>(&call<kKernel, Parameters...>), nullptr,
          launch_bound(reinterpret_cast<const void*>(kKernel))};
}

}  // namespace sim
}  // namespace rooftile
