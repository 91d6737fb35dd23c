// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/fiber.h"

#include <sys/mman.h>

#include <mutex>

#include "rooftile/base/error.h"
#include "rooftile/device/sim/global_memory.h"

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

constexpr std::size_t kStacksOfChunk = 64;
constexpr std::size_t kChunkBytes = kStacksOfChunk * kStackBytes;
constexpr int kSavedRegisters = 6;

/// The range of all stacks, which pools take in chunks.
class StackRange {
 public:
  static StackRange& get() {
    static StackRange range;
    return range;
  }

  std::uint8_t* take() {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* const chunk = free_.back();
      free_.pop_back();
      return chunk;
    }
    if (used_ + kChunkBytes > kStackRangeBytes)
      throw Error(ErrorCode::out_of_memory, "no address space for the simulator's stacks");
    std::uint8_t* const chunk = begin_ + used_;
    used_ += kChunkBytes;
    return chunk;
  }

  void give(std::uint8_t* chunk) {
    madvise(chunk, kChunkBytes, MADV_DONTNEED);
    const std::scoped_lock lock(mutex_);
    free_.push_back(chunk);
  }

 private:
  StackRange() {
    const auto pages =
        reinterpret_cast<std::uintptr_t>(reserve_pages(kStackRangeBytes + kStackBytes));
    const std::uintptr_t begin = (pages + kStackBytes - 1) & ~(kStackBytes - 1);
    begin_ = reinterpret_cast<std::uint8_t*>(begin);
    stack_range.store(begin, std::memory_order_relaxed);
  }
  std::mutex mutex_;
  std::uint8_t* begin_ = nullptr;
  std::uintptr_t used_ = 0;
  std::vector<std::uint8_t*> free_;
};

}  // namespace

std::atomic<std::uintptr_t> stack_range{0};

StackPool::~StackPool() {
  for (std::uint8_t* chunk : chunks_) StackRange::get().give(chunk);
}

std::uint8_t* StackPool::take() {
  if (free_.empty()) {
    chunks_.push_back(StackRange::get().take());
    for (std::size_t i = kStacksOfChunk; i-- > 0;)
      free_.push_back(chunks_.back() + i * kStackBytes);
  }
  std::uint8_t* stack = free_.back();
  free_.pop_back();
  return stack;
}

void* first_stack_pointer(std::uint8_t* stack, void (*entry)()) {
  auto* top = reinterpret_cast<std::uint64_t*>(&fiber_of(stack));
  *--top = 0;  // entry's return address: it has none
  *--top = reinterpret_cast<std::uint64_t>(entry);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = 0;
  return top;
}

}  // namespace rooftile::sim
