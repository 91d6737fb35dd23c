// SPDX-License-Identifier: Apache-2.0
// Atomics, strong loads and stores, and fences, with what they order. Source: PTX ISA, "Memory
// Consistency Model": what releases is a release, or a fence and a strong write after it; what
// acquires is an acquire, or a strong read and a fence after it. The two meet where the read sees
// the write, or what read-modify-writes made of it, and the scope of each has the other's thread.
#include <algorithm>
#include <cstring>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

constexpr int kBlockLevel = 0, kClusterLevel = 1, kDeviceLevel = 2;

int level_of(Scope scope) {
  if (scope == Scope::block) return kBlockLevel;
  return scope == Scope::cluster ? kClusterLevel : kDeviceLevel;
}

std::uint64_t cluster_of(std::uint64_t block) {
  return block / worker()->launch.shape.cluster.count();
}

/// The threads that a scope has, as seen from `block`.
std::uint64_t domain_of(int level, const Block& block) {
  constexpr int kLevelShift = 32;
  const std::uint64_t which = level == kBlockLevel     ? block.number
                              : level == kClusterLevel ? cluster_of(block.number)
                                                       : 0;
  return std::uint64_t(level) << kLevelShift | which;
}

/// Blocks that run one after another, or in turn, have shared memory at the same address.
std::uint64_t place_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (worker()->memory.contains(address)) return address;
  const Block* owner = owner_of_shared(address);
  if (owner == nullptr) return address;
  return std::uint64_t{1} << 63 | std::uint64_t{owner->number} << 32 |
         window_address(*owner, address);
}

Fences& fences_of(Block& block, Thread& thread) {
  if (thread.fences == nullptr) thread.fences = std::make_unique<Fences>();
  block.has_fences = true;
  return *thread.fences;
}

/// What the thread's last fence of that level covers: relaxed strong writes publish no more.
Knowledge fenced_knowledge(Block& block, int number, int level) {
  Knowledge known;
  const Fences* const fences = block[number].fences.get();
  if (fences == nullptr) return known;
  const Fences::Level& last = fences->levels[static_cast<std::size_t>(level)];
  if (last.clock == 0 && last.floor == 0) return known;
  Knowledge::OfBlock& mine = known.of(block.number % Epoch::kBlocks);
  mine.floor = last.floor;
  mine.clock(number) = last.clock;
  if (last.more != nullptr) known.join(*last.more);
  return known;
}

void release(Published::Place& place, bool is_ordered, Scope scope) {
  Block& block = *worker()->block;
  const int number = worker()->thread;
  if (is_ordered) {
    publish(place.known[domain_of(level_of(scope), block)], block, number);
    return;
  }
  for (int level = 0; level <= level_of(scope); ++level) {
    const Knowledge known = fenced_knowledge(block, number, level);
    if (!known.is_empty()) place.known[domain_of(level, block)].join(known);
  }
}

/// A store ends what others have released there; what its own thread has stays.
void replace(Published::Place& place) {
  const std::uint64_t me =
      (std::uint64_t{worker()->block->number} << 10 | std::uint64_t(worker()->thread)) + 1;
  if (place.owner != me) place.known.clear();
  place.owner = me;
}

/// Of what was released for more threads than the reader's scope has: what these did themselves.
Knowledge within(const Knowledge& known, int level, const Block& block) {
  Knowledge some;
  for (const Knowledge::OfBlock& of : known.blocks) {
    const std::uint32_t number = Knowledge::block_of(of.block);
    const bool is_in = level == kBlockLevel ? number == block.number % Epoch::kBlocks
                                            : cluster_of(number) == cluster_of(block.number);
    if (is_in) some.blocks.push_back(of);
  }
  return some;
}

void acquire(Block& block, int number, const Published::Place& place, bool is_ordered,
             Scope scope) {
  const auto take = [&](const Knowledge& known, int level) {
    if (is_ordered) {
      learn(block, number, known);
      return;
    }
    own(fences_of(block, block[number]).unfenced[static_cast<std::size_t>(level)]).join(known);
  };
  for (int level = 0; level <= kDeviceLevel; ++level) {
    const auto found = place.known.find(domain_of(level, block));
    if (found == place.known.end()) continue;
    if (level <= level_of(scope)) {
      // A fence of less, after it, acquires from fewer threads.
      if (!is_ordered)
        for (int less = 0; less < level; ++less) take(within(found->second, less, block), less);
      take(found->second, level);
    } else {
      take(within(found->second, level_of(scope), block), level_of(scope));
    }
  }
}

/// A thread that asks again for what it has just seen unchanged waits for it. Why before the
/// access: whatever happened meanwhile is seen by it.
void wait_for_change(const void* address) {
  Thread& thread = worker()->current();
  if (thread.spin_address == reinterpret_cast<std::uint64_t>(address)) yield();
}

/// What a load of the address sees, for wait_for_change(): as long as that is the same, the thread
/// waits for somebody to do something; once it is new, it will go on.
void note_seen(const void* address, std::uint64_t value) {
  Thread& thread = worker()->current();
  const auto at = reinterpret_cast<std::uint64_t>(address);
  if (thread.spin_address != at || thread.spin_value != value) thread.spins = 0;
  thread.spin_address = at;
  thread.spin_value = value;
}

void check_strong(const void* address, int bytes, bool is_write, std::uint32_t pc) {
  // AccessOp::atomic marks the access as strong; loads of it race with nothing strong.
  if (!on_access(reinterpret_cast<std::uint64_t>(address), static_cast<std::uint32_t>(bytes),
                 is_write, pc, AccessOp::atomic))
    abandon();
}

/// What is at the address and what is known of it, against the host's other threads: both change
/// together. Nothing is locked, and null, where nothing is checked.
class LockedPlace {
 public:
  explicit LockedPlace(const void* address) {
    Launch& launch = worker()->launch;
    if (!launch.options.check) return;
    const std::uint64_t at = place_of(address);
    Published& published = launch.published[at / 8 % launch.published.size()];
    lock_ = std::unique_lock(published.mutex);
    place_ = &published.places[at];
  }
  [[nodiscard]] Published::Place* get() const { return place_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Published::Place* place_ = nullptr;
};

template <class T>
std::uint64_t load_now(const void* address) {
  return __atomic_load_n(static_cast<const T*>(address), __ATOMIC_SEQ_CST);
}

template <class T>
void store_now(void* address, std::uint64_t value) {
  __atomic_store_n(static_cast<T*>(address), static_cast<T>(value), __ATOMIC_SEQ_CST);
}

void acquire_volatile(Block& block, int number, const void* address) {
  const LockedPlace locked(address);
  acquire(block, number, *locked.get(), false, Scope::system);
}

void note_volatile_load(const void* address) {
  constexpr std::size_t kMost = 32;
  Block& block = *worker()->block;
  std::vector<const void*>& loads = fences_of(block, worker()->current()).volatile_loads;
  if (std::find(loads.begin(), loads.end(), address) != loads.end()) return;
  if (loads.size() == kMost) {
    acquire_volatile(block, worker()->thread, loads.front());
    loads.erase(loads.begin());
  }
  loads.push_back(address);
}

}  // namespace

std::uint64_t atomic(Atomic op, Number type, int bytes, void* address, std::uint64_t value,
                     std::uint64_t compare, bool ordered, Scope scope) {
  wait_for_change(address);
  if (op != Atomic::exchange)
    check_value(reinterpret_cast<std::uint64_t>(address), static_cast<std::uint32_t>(bytes),
                ROOFTILE_SIM_PC);
  check_strong(address, bytes, true, ROOFTILE_SIM_PC);
  std::uint64_t old = 0;
  {
    const LockedPlace locked(address);
    old = apply_atomic(op, type, bytes, address, value, compare);
    if (locked.get() != nullptr) {
      acquire(*worker()->block, worker()->thread, *locked.get(), ordered, scope);
      const bool has_written = op != Atomic::compare_exchange || old == compare;
      if (has_written) release(*locked.get(), ordered, scope);
    }
  }
  if (changes_number(op, type, bytes, old, value, compare)) {
    worker()->current().spin_address = 0;
    note_progress();
  } else {
    note_seen(address, old);
  }
  return old;
}

std::uint64_t strong_load(const void* address, int bytes, bool acquires, Scope scope) {
  wait_for_change(address);
  check_strong(address, bytes, false, ROOFTILE_SIM_PC);
  const LockedPlace locked(address);
  const std::uint64_t value = bytes == 2   ? load_now<std::uint16_t>(address)
                              : bytes == 4 ? load_now<std::uint32_t>(address)
                                           : load_now<std::uint64_t>(address);
  if (locked.get() != nullptr)
    acquire(*worker()->block, worker()->thread, *locked.get(), acquires, scope);
  note_seen(address, value);
  return value;
}

void strong_store(void* address, int bytes, std::uint64_t value, bool releases, Scope scope) {
  check_strong(address, bytes, true, ROOFTILE_SIM_PC);
  {
    const LockedPlace locked(address);
    if (locked.get() != nullptr) {
      replace(*locked.get());
      release(*locked.get(), releases, scope);
    }
    bytes == 2   ? store_now<std::uint16_t>(address, value)
    : bytes == 4 ? store_now<std::uint32_t>(address, value)
                 : store_now<std::uint64_t>(address, value);
  }
  note_progress();
}

void volatile_access(const void* address, std::uint32_t bytes, bool is_write, std::uint32_t pc) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  if (!is_write) wait_for_change(address);
  if (!on_access(at, bytes, is_write, pc, is_write ? AccessOp::store : AccessOp::load, true))
    abandon();
  if (is_write) {
    worker()->current().spin_address = 0;
  } else {
    std::uint64_t value = 0;
    std::memcpy(&value, address, std::min<std::size_t>(bytes, sizeof value));
    note_seen(address, value);
  }
  if (!worker()->launch.options.check) return;
  // The access itself comes after this, in the kernel. A store is seen by others only later than
  // what it publishes; what a load sees is asked for when a fence makes it known.
  if (!is_write) {
    note_volatile_load(address);
    return;
  }
  {
    const LockedPlace locked(address);
    replace(*locked.get());
    release(*locked.get(), false, Scope::system);
  }
  worker()->owes_progress = true;
}

void fence(Scope scope) {
  Block& block = *worker()->block;
  const int number = worker()->thread;
  Thread& thread = block[number];
  ++worker()->counters[SimCounter::fences];
  Fences& fences = fences_of(block, thread);
  for (const void* address : fences.volatile_loads) acquire_volatile(block, number, address);
  fences.volatile_loads.clear();
  for (int level = 0; level <= level_of(scope); ++level) {
    SharedKnowledge& unfenced = fences.unfenced[static_cast<std::size_t>(level)];
    if (unfenced != nullptr) learn_shared(block, number, unfenced);
    unfenced.reset();
  }
  for (int level = 0; level <= level_of(scope); ++level) {
    Fences::Level& last = fences.levels[static_cast<std::size_t>(level)];
    last.clock = thread.clock;
    last.floor = thread.floor;
    last.more.reset();
    if (thread.actors == nullptr && thread.foreign == nullptr && thread.warp_floor <= thread.floor)
      continue;
    last.more = std::make_unique<Knowledge>();
    add_known(*last.more, block, number);
  }
  tick(block, thread);
}

namespace {

/// A fence before the barrier, of all threads, is one of each behind it.
void join_fenced(Block& block, const std::vector<std::uint16_t>& threads, std::size_t level,
                 std::uint32_t now) {
  std::uint32_t fenced = 0;
  bool all_fenced = true;
  for (const std::uint16_t t : threads) {
    const Thread& thread = block[t];
    const Fences* const fences = thread.fences.get();
    const std::uint32_t clock = fences != nullptr ? fences->levels[level].clock : 0;
    if (fences != nullptr) fenced = std::max(fenced, fences->levels[level].floor);
    all_fenced &= clock >= thread.clock - 1 && clock > thread.floor;
  }
  if (all_fenced) fenced = now;
  if (fenced == 0) return;
  for (const std::uint16_t t : threads) {
    Fences::Level& last = fences_of(block, block[t]).levels[level];
    last.floor = fenced;
    // By now all know of other blocks what one of them knew.
    if (!all_fenced || block[t].foreign == nullptr) continue;
    if (last.more == nullptr) last.more = std::make_unique<Knowledge>();
    last.more->join(*block[t].foreign);
  }
}

/// What one has read, a fence of any behind the barrier makes known to that one.
void join_unfenced(Block& block, const std::vector<std::uint16_t>& threads, std::size_t level) {
  SharedKnowledge all;
  for (const std::uint16_t t : threads) {
    if (block[t].fences == nullptr) continue;
    const SharedKnowledge& one = block[t].fences->unfenced[level];
    if (one == nullptr || one == all) continue;
    if (all == nullptr)
      all = one;
    else
      own(all).join(*one);
  }
  if (all == nullptr) return;
  for (const std::uint16_t t : threads) fences_of(block, block[t]).unfenced[level] = all;
}

}  // namespace

void join_fences(Block& block, const std::vector<std::uint16_t>& threads, std::uint32_t now) {
  if (!block.has_fences) return;
  for (const std::uint16_t t : threads) {
    if (block[t].fences == nullptr) continue;
    std::vector<const void*>& loads = block[t].fences->volatile_loads;
    for (const void* address : loads) acquire_volatile(block, t, address);
    loads.clear();
  }
  for (std::size_t level = 0; level < Fences::kLevels; ++level) {
    join_fenced(block, threads, level, now);
    join_unfenced(block, threads, level);
  }
}

void yield() {
  Thread& thread = worker()->current();
  if (thread.spins < kSpinsBeforeStuck) ++thread.spins;
  block_thread(State::yielded);
}

std::uint64_t clock() {
  yield();
  return worker()->counters[SimCounter::fiber_switches];
}

}  // namespace rooftile::sim
