// SPDX-License-Identifier: Apache-2.0
// What is wrong with an access of memory: races, uninitialised reads, missing waits and proxy
// fences, bounds (checks.cc).
#pragma once

#include <cstdint>

#include "rooftile/device/sim/clocks.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

struct AccessCheck {
  Block* observer;      // whose thread's knowledge counts
  int thread;           // of the observer
  int actor;            // who accesses: that thread, or an engine
  std::uint32_t clock;  // of the actor
  bool is_write = false;
  bool is_strong = false;
  bool is_async_proxy = false;  // needs a proxy fence after generic writes
  bool is_of_copy = false;      // over when the copy is, which the thread issues
  std::uint32_t pc = 0;
  Block* actor_block = nullptr;          // whose engine it is; null: the observer's
  Epoch known_write{~std::uint64_t{0}};  // a write that comes before, whatever the thread knows
  [[nodiscard]] const Block& block() const {
    return actor_block != nullptr ? *actor_block : *observer;
  }
};

/// Accesses alike, one after another: what holds for all of them is found once.
struct Check {
  Check(const AccessCheck& of, Block* owner_of_shared);
  const AccessCheck& access;
  Block& observer;
  const Thread& thread;
  Block* owner;  // of shared memory; null: global memory
  std::uint32_t launch;
  bool overlaps;  // launches ahead may still run
  Epoch now;
  Epoch known_write;  // the last that was found to come before these accesses
};

/// In place of the actor: there were several, of several blocks.
constexpr int kSeveralBlocks = kActors;
/// Cell::read of global memory that threads of several blocks have read, none of them atomically.
inline Epoch readers_of_several_blocks(std::uint32_t launch) {
  return {Epoch::make(launch, Epoch::kBlocks - 1, kSeveralBlocks, 0).bits | Epoch::kMany};
}

/// Where the cells of an address are.
struct ShadowPlace {
  Shadow& shadow;
  std::uint64_t offset;
};

[[gnu::always_inline]] inline ShadowPlace shadow_place(const Check& check, std::uint64_t address) {
  const Worker& self = check.observer.worker;
  if (check.owner == nullptr) return {*self.launch.global_shadow, address - self.memory.base()};
  Block& owner = *check.owner;
  const std::uint64_t from_dynamic = address - reinterpret_cast<std::uint64_t>(owner.shared);
  if (from_dynamic < kSharedBytes) return {owner.dynamic_shadow, from_dynamic};
  const std::uint8_t* statics = self.block == &owner ? self.statics : owner.statics.data();
  return {owner.static_shadow, address - reinterpret_cast<std::uint64_t>(statics)};
}

/// Whether an unwritten byte may be padding of the struct that is copied (padding.cc): beside
/// written ones of its word; or half of eight bytes, in a struct with members of eight, which one
/// store wrote.
[[nodiscard]] bool is_padding(const Check& check, std::uint64_t address);
/// Whether the asynchronous proxy may see what a thread wrote there (proxy_fences.cc).
[[nodiscard]] bool is_fenced(const Check& check, Epoch write);

/// Of shared memory (through its generic address).
void check_access(Check& check, std::uint64_t address, std::uint64_t bytes);
/// Of shared memory of `owner` (through its generic address), of global memory: any range.
void check_access(const AccessCheck& access, Block& owner, std::uint64_t address,
                  std::uint64_t bytes);
/// Of any memory: an atomic of the current thread is about to ask for what is there.
void check_value(std::uint64_t address, std::uint32_t bytes, std::uint32_t pc);
void check_global_access(const AccessCheck& access, std::uint64_t address, std::uint64_t bytes);
/// Whether these bytes of global memory lie in one allocation.
bool is_allocated(Worker& self, std::uint64_t address, std::uint64_t bytes);
/// The same; reports and returns false when it must not be touched.
bool check_global_bounds(std::uint64_t address, std::uint64_t bytes, bool is_write,
                         std::uint32_t pc);

}  // namespace rooftile::sim
