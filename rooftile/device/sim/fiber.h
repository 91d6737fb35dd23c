// SPDX-License-Identifier: Apache-2.0
// Stacks of the simulated threads, and switching between them: a call that saves the registers
// which a callee must keep. Why not ucontext: it makes two system calls a switch.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rooftile/tile/sim/runtime.h"

namespace rooftile::sim {

extern "C" void rooftile_sim_switch(void** save, void* to);

class RegisterWatch;
struct Thread;
struct Warp;
struct Worker;

/// What the stack of a fiber begins with, at its upper end: what kernels know of, and whose fiber
/// it is.
struct Fiber : FiberContext {
  Worker* worker;
  Thread* state;
  Warp* warp;
  std::uint32_t lane;    // in the warp
  RegisterWatch* watch;  // of accesses of the stack: wgmma uses registers of it; null: none yet
};

static_assert(sizeof(Fiber) <= kColourBytes);

inline Fiber& fiber_of(std::uint8_t* stack) {
  return *reinterpret_cast<Fiber*>(context_of_stack(reinterpret_cast<std::uintptr_t>(stack)));
}

/// All stacks lie in one range of addresses, so that any stack pointer tells whether it is one of a
/// fiber's. Before there are any: a range that is no stack's.
constexpr std::uintptr_t kStackRangeBytes = std::uintptr_t{1} << 37;
extern std::atomic<std::uintptr_t> stack_range;

/// The fiber that runs; null on a stack of the host.
inline Fiber* this_fiber() {
  const std::uintptr_t stack = stack_base();
  const bool is_fiber = stack - stack_range.load(std::memory_order_relaxed) < kStackRangeBytes;
  return is_fiber ? reinterpret_cast<Fiber*>(context_of_stack(stack)) : nullptr;
}

class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  /// A stack of kStackBytes, aligned to them.
  std::uint8_t* take();
  void give(std::uint8_t* stack) { free_.push_back(stack); }

 private:
  std::vector<std::uint8_t*> free_;
  std::vector<std::uint8_t*> chunks_;
};

/// A stack pointer that, switched to, calls `entry` on `stack`; `entry` must never return.
void* first_stack_pointer(std::uint8_t* stack, void (*entry)());

}  // namespace rooftile::sim
