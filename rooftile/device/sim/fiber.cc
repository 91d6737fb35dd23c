// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/fiber.h"

#include <sys/mman.h>

#include "rooftile/base/error.h"

asm(R"(
.text
.globl rooftile_sim_switch
.hidden rooftile_sim_switch
.type rooftile_sim_switch,@function
rooftile_sim_switch:
 pushq %rbp
 pushq %rbx
 pushq %r12
 pushq %r13
 pushq %r14
 pushq %r15
 movq %rsp,(%rdi)
 movq %rsi,%rsp
 popq %r15
 popq %r14
 popq %r13
 popq %r12
 popq %rbx
 popq %rbp
 ret
.size rooftile_sim_switch,.-rooftile_sim_switch
)");

namespace rooftile::sim {
namespace {

constexpr std::size_t kStacksAtOnce = 64;
constexpr int kSavedRegisters = 6;
// Stacks are aligned to a large power of two: without an offset of their own, all their tops would
// lie in the same sets of the cache.
constexpr std::uintptr_t kColours = 64;
constexpr std::uintptr_t kColourBytes = 192;

}  // namespace

StackPool::~StackPool() {
  for (const Mapping& mapping : mappings_) munmap(mapping.address, mapping.bytes);
}

std::uint8_t* StackPool::take() {
  if (free_.empty()) {
    const std::size_t bytes = (kStacksAtOnce + 1) * kStackBytes;
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
      throw Error(ErrorCode::out_of_memory, "no address space for the simulator's stacks");
    mappings_.push_back({mapping, bytes});
    const auto first =
        (reinterpret_cast<std::uintptr_t>(mapping) + kStackBytes - 1) & ~(kStackBytes - 1);
    for (std::size_t i = kStacksAtOnce; i-- > 0;)
      free_.push_back(reinterpret_cast<std::uint8_t*>(first + i * kStackBytes));
  }
  std::uint8_t* stack = free_.back();
  free_.pop_back();
  return stack;
}

void* first_stack_pointer(std::uint8_t* stack, void (*entry)()) {
  const std::uintptr_t colour =
      reinterpret_cast<std::uintptr_t>(stack) / kStackBytes % kColours * kColourBytes;
  auto* top = reinterpret_cast<std::uint64_t*>(
      (reinterpret_cast<std::uintptr_t>(stack) + kStackBytes - 256 - colour) & ~std::uintptr_t{15});
  *--top = 0;  // entry's return address: it has none
  *--top = reinterpret_cast<std::uint64_t>(entry);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = 0;
  return top;
}

}  // namespace rooftile::sim
