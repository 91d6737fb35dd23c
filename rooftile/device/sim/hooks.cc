// SPDX-License-Identifier: Apache-2.0
// The functions that g++ -fsanitize=thread calls for each load and store of a kernel, with our
// meaning in place of ThreadSanitizer's runtime.
#include <algorithm>

#include "rooftile/device/sim/access_log.h"
#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/first_access.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/register_watch.h"

namespace rooftile::sim {
namespace {

constexpr std::uint64_t kNullPage = 4096;

[[gnu::always_inline]] inline bool is_own_stack(std::uint64_t address) {
  return address - stack_base() < kStackBytes;
}

[[gnu::cold, gnu::noinline]] void report_outside(std::uint64_t address, std::uint32_t bytes,
                                                 bool is_write, std::uint32_t pc) {
  const Block& block = *worker()->block;
  if (!is_new_finding(FindingKind::out_of_bounds, pc, 0)) return;
  const std::uint64_t behind = address - reinterpret_cast<std::uint64_t>(block.shared);
  std::string place = address < kNullPage ? "at address " + std::to_string(address)
                                          : "outside of all memory of the device";
  if (behind + (64u << 10) < kSharedBytes + (128u << 10))
    place = "outside of dynamic shared memory of " +
            std::to_string(block.worker.launch.shape.dynamic_shared_bytes) + " bytes";
  report(FindingKind::out_of_bounds, pc, 0,
         describe_here() + (is_write ? " writes " : " reads ") + std::to_string(bytes) + " bytes " +
             place);
}

[[gnu::cold, gnu::noinline]] void report_misaligned(std::uint32_t bytes, std::uint32_t pc) {
  if (!is_new_finding(FindingKind::misaligned, pc, 0)) return;
  report(FindingKind::misaligned, pc, 0,
         describe_here() + ": an access of " + std::to_string(bytes) +
             " bytes at an address that is no multiple of " + std::to_string(bytes));
}

/// Constant tables of a program lie among its own variables: what is read there is right.
[[gnu::cold, gnu::noinline]] void report_variable(std::uint32_t pc) {
  report(FindingKind::unsupported, pc, 0,
         describe_here() +
             " writes a __device__ variable (or another of the program), which the simulator does"
             " not check: pass a pointer to memory of the device");
}

/// "past the end of tile": of the kernel's variable that is nearest.
std::string place_beside_variables(std::uint32_t offset) {
  std::string place = "outside of its __shared__ variables";
  std::uint32_t nearest = ~0u;
  for (const SharedVariable& variable : worker()->launch.module->variables()) {
    const bool is_before = offset < variable.begin;
    const std::uint32_t distance = is_before               ? variable.begin - offset
                                   : offset < variable.end ? 0
                                                           : offset - variable.end;
    if (variable.is_guard || distance >= nearest || is_of_other_kernel(variable)) continue;
    nearest = distance;
    place = (is_before ? "before the start of " : "past the end of ") + variable.name;
  }
  return place;
}

[[gnu::cold, gnu::noinline]] void report_beside_variable(std::uint32_t offset, std::uint32_t bytes,
                                                         bool is_write, std::uint32_t pc) {
  if (!is_new_finding(FindingKind::out_of_bounds, pc, 0)) return;
  report(FindingKind::out_of_bounds, pc, 0,
         describe_here() + (is_write ? " writes " : " reads ") + std::to_string(bytes) + " bytes " +
             place_beside_variables(offset));
}

/// An access of a __shared__ variable must stay within it.
bool check_variable(Block& block, std::uint64_t address, std::uint32_t bytes, bool is_write,
                    std::uint32_t pc) {
  Worker& self = *worker();
  const std::uint8_t* statics = self.block == &block ? self.statics : block.statics.data();
  const auto offset =
      static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(statics));
  if (offset >= self.variable_begin && offset + bytes <= self.variable_end) return true;
  const SharedVariable* variable = self.launch.module->find(offset);
  if (variable != nullptr && variable->is_guard) return false;
  if (variable == nullptr || offset + bytes > variable->end || is_of_other_kernel(*variable)) {
    report_beside_variable(offset, bytes, is_write, pc);
    return false;
  }
  self.variable_begin = variable->begin;
  self.variable_end = variable->end;
  self.use_variable(*variable);
  return true;
}

/// Whether an access that check_variable() refused still lies in some variable of a kernel. Why:
/// the host's own thread-local variables lie among those, and must not be written.
bool lies_in_variable(const Block& block, std::uint64_t address, std::uint32_t bytes) {
  const std::uint8_t* statics =
      worker()->block == &block ? worker()->statics : block.statics.data();
  const auto offset =
      static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(statics));
  const SharedVariable* variable = worker()->launch.module->find(offset);
  return variable != nullptr && offset + bytes <= variable->end;
}

/// False: the access itself would destroy what is not the kernel's.
bool on_shared(Block& owner, std::uint64_t address, std::uint32_t bytes, bool is_write,
               std::uint32_t pc, AccessOp op, bool is_strong) {
  Worker& self = *worker();
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(owner.shared);
  if (offset < kSharedBytes) {
    if (offset + bytes > static_cast<std::uint64_t>(self.launch.shape.dynamic_shared_bytes)) {
      report_outside(address, bytes, is_write, pc);
      return true;
    }
  } else if (!check_variable(owner, address, bytes, is_write, pc)) {
    return !is_write || lies_in_variable(owner, address, bytes);
  }
  if (&owner != self.block) ++self.counters[SimCounter::remote_shared_accesses];
  if (self.launch.options.check)
    check_access({.observer = self.block,
                  .thread = self.thread,
                  .actor = self.thread,
                  .clock = self.current().clock,
                  .is_write = is_write,
                  .is_strong = is_strong,
                  .pc = pc},
                 owner, address, bytes);
  log_access(*this_fiber(), address, bytes, MemorySpace::shared, op, pc);
  return true;
}

void on_global(Worker& self, std::uint64_t address, std::uint32_t bytes, bool is_write,
               std::uint32_t pc, AccessOp op, bool is_strong) {
  if (!self.hits_again(address, bytes) && !check_global_bounds(address, bytes, is_write, pc))
    return;
  if (self.launch.options.check)
    check_global_access({.observer = self.block,
                         .thread = self.thread,
                         .actor = self.thread,
                         .clock = self.current().clock,
                         .is_write = is_write,
                         .is_strong = is_strong,
                         .pc = pc},
                        address, bytes);
  log_access(*this_fiber(), address, bytes, MemorySpace::global, op, pc);
}

[[gnu::noinline]] void note_local(std::uint64_t address, std::uint32_t bytes, bool is_write,
                                  std::uint32_t pc) {
  const Fiber* const fiber = this_fiber();
  if (fiber != nullptr && fiber->watch != nullptr) fiber->watch->note(address, bytes, is_write, pc);
}

/// Most accesses are of this kind: locals that the compiler keeps in memory. Registers of wgmma are
/// among them. False: it is none, and nothing was done.
[[gnu::always_inline]] inline bool on_local(std::uint64_t address, std::uint32_t bytes,
                                            bool is_write, std::uint32_t pc) {
  if (!is_own_stack(address)) return false;
  if (registers_are_watched.load(std::memory_order_relaxed))
    note_local(address, bytes, is_write, pc);
  return true;
}

/// What on_access() does where a plain access is of global memory, aligned, and the first of its
/// cell. False: it is not, and nothing was done.
template <std::uint32_t kBytes, bool kIsWrite>
[[gnu::always_inline]] inline bool on_first_access(std::uint64_t address, std::uint32_t pc) {
  const Fiber* const fiber = this_fiber();
  if (fiber == nullptr) return false;
  Worker& self = *fiber->worker;
  if (address % kBytes != 0 || !self.memory.contains(address) || !self.launch.options.check ||
      !(self.hits_again(address, kBytes) || is_allocated(self, address, kBytes)))
    return false;
  const bool has_row = kBytes == Row::kLaneBytes && check_row(*fiber, address, kIsWrite, pc);
  if (!has_row && !check_first_access(*fiber, address, kBytes, kIsWrite, pc)) return false;
  log_access(*fiber, address, kBytes, MemorySpace::global,
             kIsWrite ? AccessOp::store : AccessOp::load, pc);
  return true;
}

bool is_argument(const Worker& self, std::uint64_t address) {
  const std::vector<std::uint8_t>& arguments = self.launch.arguments;
  return address - reinterpret_cast<std::uint64_t>(arguments.data()) < arguments.size();
}

}  // namespace

bool on_access(std::uint64_t address, std::uint32_t bytes, bool is_write, std::uint32_t pc,
               AccessOp op, bool is_volatile) {
  const bool is_strong = is_volatile || op == AccessOp::atomic;
  if (on_local(address, bytes, is_write, pc)) return true;
  const Fiber* const fiber = this_fiber();
  if (fiber == nullptr) return true;
  Worker* const self = fiber->worker;
  if ((address & (bytes - 1)) != 0) {
    report_misaligned(bytes, pc);
    return false;
  }
  if (self->memory.contains(address)) {
    on_global(*self, address, bytes, is_write, pc, op, is_strong);
  } else if (is_argument(*self, address)) {
    return true;
  } else if (Block* owner = owner_of_shared(address); owner != nullptr) {
    return on_shared(*owner, address, bytes, is_write, pc, op, is_strong);
  } else if (!self->launch.module->contains(address)) {
    report_outside(address, bytes, is_write, pc);
    return false;
  } else if (is_write) {
    report_variable(pc);
    return false;
  }
  return true;
}

void on_range(const void* address, std::size_t bytes, std::uint32_t each, bool is_write,
              std::uint32_t pc) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  Worker* const self = worker();
  if (self != nullptr && !is_write) self->copied = {begin, begin + bytes};
  for (std::size_t i = 0; i < bytes; i += each)
    if (!on_access(begin + i, each, is_write, pc, is_write ? AccessOp::store : AccessOp::load))
      abandon();
  if (self != nullptr) self->copied = {};
}

}  // namespace rooftile::sim

// A build with ThreadSanitizer has its hooks, and no simulator.
#ifndef __SANITIZE_THREAD__
namespace rooftile::sim {
namespace {

/// Not inlined: what locals need is done without a frame.
template <std::uint32_t kBytes, bool kIsWrite>
[[gnu::noinline]] void on_plain_access(std::uint64_t address, std::uint32_t pc) {
  if (on_first_access<kBytes, kIsWrite>(address, pc)) return;
  if (!on_access(address, kBytes, kIsWrite, pc, kIsWrite ? AccessOp::store : AccessOp::load))
    abandon();  // the access itself would crash the program
}

}  // namespace
}  // namespace rooftile::sim

// NOLINTBEGIN: names that the compiler prescribes
#define ROOFTILE_HOOK(name, bytes, is_write)                                \
  void name(void* address) {                                                \
    const auto at = reinterpret_cast<std::uint64_t>(address);               \
    if (!rooftile::sim::on_local(at, bytes, is_write, ROOFTILE_SIM_PC))     \
      rooftile::sim::on_plain_access<bytes, is_write>(at, ROOFTILE_SIM_PC); \
  }
#define ROOFTILE_VOLATILE(name, bytes, is_write)                               \
  void name(void* address) {                                                   \
    const auto at = reinterpret_cast<std::uint64_t>(address);                  \
    if (rooftile::sim::on_local(at, bytes, is_write, ROOFTILE_SIM_PC)) return; \
    if (rooftile::sim::this_fiber() == nullptr) return;                        \
    rooftile::sim::volatile_access(address, bytes, is_write, ROOFTILE_SIM_PC); \
  }
#define ROOFTILE_HOOKS(bytes)                                  \
  ROOFTILE_HOOK(__tsan_read##bytes, bytes, false)              \
  ROOFTILE_HOOK(__tsan_write##bytes, bytes, true)              \
  ROOFTILE_HOOK(__tsan_unaligned_read##bytes, bytes, false)    \
  ROOFTILE_HOOK(__tsan_unaligned_write##bytes, bytes, true)    \
  ROOFTILE_VOLATILE(__tsan_volatile_read##bytes, bytes, false) \
  ROOFTILE_VOLATILE(__tsan_volatile_write##bytes, bytes, true)

namespace {

/// Of aggregates that no instruction copies at once, and of what is not aligned (packed structs,
/// memcpy): word by word, as the GPU does, or in the largest pieces that are aligned.
void on_aggregate(void* address, std::size_t bytes, bool is_write, std::uint32_t pc) {
  constexpr std::uint64_t kWord = 4;
  const std::uint64_t all = reinterpret_cast<std::uint64_t>(address) | bytes | kWord;
  rooftile::sim::on_range(address, bytes, static_cast<std::uint32_t>(all & -all), is_write, pc);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
ROOFTILE_HOOKS(1)
ROOFTILE_HOOKS(2)
ROOFTILE_HOOKS(4)
ROOFTILE_HOOKS(8)
ROOFTILE_HOOKS(16)
void __tsan_read_range(void* address, std::size_t bytes) {
  on_aggregate(address, bytes, false, ROOFTILE_SIM_PC);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  on_aggregate(address, bytes, true, ROOFTILE_SIM_PC);
}
// The guards of function-local statics, which tables of kernels have.
char __tsan_atomic8_load(const volatile char* address, int) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
}
#pragma GCC visibility pop
// NOLINTEND
#endif
