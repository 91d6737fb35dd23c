// SPDX-License-Identifier: Apache-2.0
// Stacks of the simulated threads, and switching between them: a call that saves the registers
// which a callee must keep. Why not ucontext: it makes two system calls a switch.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/tile/sim/runtime.h"

namespace rooftile::sim {

extern "C" void rooftile_sim_switch(void** save, void* to);

inline FiberContext& context_of(std::uint8_t* stack) {
  return *reinterpret_cast<FiberContext*>(stack);
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
  struct Mapping {
    void* address;
    std::size_t bytes;
  };
  std::vector<std::uint8_t*> free_;
  std::vector<Mapping> mappings_;
};

/// A stack pointer that, switched to, calls `entry` on `stack`; `entry` must never return.
void* first_stack_pointer(std::uint8_t* stack, void (*entry)());

}  // namespace rooftile::sim
