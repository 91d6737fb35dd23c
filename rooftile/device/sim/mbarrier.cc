// SPDX-License-Identifier: Apache-2.0
// The state machine of an mbarrier. Source: PTX ISA, "mbarrier object", "Phase of the mbarrier
// object", "Tracking asynchronous operations by the mbarrier object".
#include "rooftile/device/sim/mbarrier.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/engines.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
constexpr std::int64_t kMostBytes = (1 << 20) - 1;
constexpr std::uint32_t kBarrierBytes = 8;

/// What the memory of a live barrier holds here. A kernel that writes over it is found out.
std::uint64_t memory_of(const MbarrierState& barrier) {
  return 0x9d5b6a3c00000000u ^ barrier.address;
}

std::string name_of(Block& owner, std::uint32_t address) {
  return "the mbarrier at " +
         describe_shared(owner, reinterpret_cast<std::uint64_t>(window_pointer(owner, address)));
}

[[noreturn]] void refuse(FindingKind kind, std::uint32_t pc, const std::string& text) {
  report(kind, pc, 0, describe_here() + ": " + text);
  abandon();
}

Runnable here() { return {worker()->block, static_cast<std::uint16_t>(worker()->thread)}; }

/// `by`: whose doing it is. A copy may land while any thread runs.
void misuse(Runnable by, std::uint32_t pc, const std::string& text) {
  report(FindingKind::barrier_misuse, pc, 0, describe_actor(*by.block, by.thread) + ": " + text);
}

/// Who uses a barrier: a thread, at once, or the copy that it issues.
enum class User : std::uint8_t { thread, copy };

/// The current thread makes or ends a barrier, or uses `used`: ordered behind its init, and among
/// strong accesses.
void check_use(Block& owner, std::uint32_t address, const MbarrierState* used, std::uint32_t pc,
               User user = User::thread) {
  Worker& self = *worker();
  ++self.counters[SimCounter::mbarrier_operations];
  if (!self.launch.options.check) return;
  AccessCheck access{.observer = self.block,
                     .thread = self.thread,
                     .actor = self.thread,
                     .clock = self.current().clock,
                     .is_write = used == nullptr,
                     .is_strong = used != nullptr,
                     .is_of_copy = user == User::copy,
                     .pc = pc};
  if (used != nullptr && self.current().cluster_waits >= used->known_from)
    access.known_write = used->initialised;
  check_access(access, owner, reinterpret_cast<std::uint64_t>(window_pointer(owner, address)),
               kBarrierBytes);
}

MbarrierState& live_barrier(Block& owner, std::uint32_t address, const char* what, std::uint32_t pc,
                            User user = User::thread) {
  if (address % kBarrierBytes != 0)
    refuse(FindingKind::misaligned, pc,
           std::string(what) + ": " + name_of(owner, address) + " is not aligned to 8 bytes");
  MbarrierState* barrier = mbarriers_of(owner).find(address);
  if (barrier == nullptr || !barrier->is_live)
    refuse(FindingKind::barrier_misuse, pc,
           std::string(what) + ": " + name_of(owner, address) + " is not initialised");
  check_use(owner, address, barrier, pc, user);
  std::uint64_t memory = 0;
  std::memcpy(&memory, window_pointer(owner, address), sizeof memory);
  if (memory != memory_of(*barrier))
    misuse(here(), pc,
           std::string(what) + ": the memory of " + name_of(owner, address) +
               " was overwritten since its init");
  return *barrier;
}

/// Ends the phase if nothing is missing.
void update(Block& owner, MbarrierState& barrier, Runnable by, std::uint32_t pc) {
  if (barrier.pending != 0) return;
  if (barrier.bytes < 0)
    misuse(by, pc,
           name_of(owner, barrier.address) + ": " + std::to_string(-barrier.bytes) +
               " bytes more than expected were copied in phase " + std::to_string(barrier.phase));
  if (barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.done.join(barrier.arriving);
  barrier.arriving = {};
  note_progress();
  for (const std::uint16_t thread : barrier.waiting) make_ready(owner, thread);
  barrier.waiting.clear();
}

void expect(Block& owner, MbarrierState& barrier, std::uint32_t bytes, std::uint32_t pc) {
  barrier.bytes += bytes;
  if (std::llabs(barrier.bytes) > kMostBytes)
    misuse(here(), pc,
           name_of(owner, barrier.address) + " waits for " + std::to_string(barrier.bytes) +
               " bytes; a barrier can count 2^20 - 1");
}

void take_arrivals(Block& owner, MbarrierState& barrier, std::uint32_t count, Runnable by,
                   std::uint32_t pc) {
  if (count == 0 || count > barrier.pending) {
    misuse(by, pc,
           name_of(owner, barrier.address) + ": " + std::to_string(count) +
               " arrivals, the phase waits for " + std::to_string(barrier.pending) + " of " +
               std::to_string(barrier.count));
    count = barrier.pending;
  }
  barrier.pending -= count;
  update(owner, barrier, by, pc);
}

/// What an arrival makes known of the thread: to the block of the barrier alone, or to the cluster.
void release(MbarrierState& barrier, const Block& owner, Scope scope) {
  Block& block = *worker()->block;
  if (&owner == &block)
    publish(barrier.arriving.in_block, block, worker()->thread);
  else if (scope == Scope::cluster)
    publish(barrier.arriving.to_cluster, block, worker()->thread);
  else
    publish(barrier.arriving.in_block, block, worker()->thread, Reach::over);
}

std::uint64_t arrive(const SharedPlace& place, const char* what, std::uint32_t count,
                     std::uint32_t bytes, Scope scope, std::uint32_t pc) {
  MbarrierState& barrier = live_barrier(*place.owner, place.address, what, pc);
  const std::uint64_t token = barrier.phase;
  release(barrier, *place.owner, scope);
  expect(*place.owner, barrier, bytes, pc);
  take_arrivals(*place.owner, barrier, count, here(), pc);
  return token;
}

SharedPlace own_place(const void* pointer, const char* what, std::uint32_t pc) {
  const SharedPlace place = shared_place(pointer, what, pc);
  if (place.owner != worker()->block)
    refuse(FindingKind::bad_operand, pc,
           std::string(what) + " takes a barrier of the own block; this is one of " +
               describe_block(*place.owner) + " (see the _cluster functions)");
  return place;
}

/// Waits until the phase is over; not `until_done`: lets others run once and looks again.
bool wait(MbarrierState& barrier, std::int64_t phase, bool until_done, Scope scope) {
  Block& block = *worker()->block;
  if (barrier.phase <= phase && !until_done) yield();
  while (barrier.phase <= phase) {
    if (!until_done) return false;
    barrier.waiting.push_back(static_cast<std::uint16_t>(worker()->thread));
    block_thread(State::mbarrier, barrier.address, static_cast<std::uint32_t>(phase & 1));
  }
  if (worker()->launch.options.check) {
    learn(block, worker()->thread, barrier.done.in_block);
    learn(block, worker()->thread, barrier.done.to_cluster,
          scope == Scope::cluster ? Reach::seen : Reach::over);
  }
  barrier.waited_clock = std::max(barrier.waited_clock, barrier.clock() - 1);
  return true;
}

}  // namespace

MbarrierState* Mbarriers::find(std::uint32_t address) {
  for (const auto& barrier : all)
    if (barrier->address == address) return barrier.get();
  return nullptr;
}

Mbarriers& mbarriers_of(Block& block) {
  std::unique_ptr<Mbarriers>& barriers = engines_of(block).mbarriers;
  if (barriers == nullptr) barriers = std::make_unique<Mbarriers>();
  return *barriers;
}

SharedPlace shared_place(const void* pointer, const char* what, std::uint32_t pc) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  Block* owner = owner_of_shared(address);
  if (owner == nullptr)
    refuse(FindingKind::bad_operand, pc,
           std::string(what) + ": an address outside of shared memory");
  if (owner->live == 0)
    refuse(
        FindingKind::out_of_bounds, pc,
        std::string(what) + ": shared memory of " + describe_block(*owner) + ", which has ended");
  return {owner, window_address(*owner, address)};
}

Transaction begin_transaction(Block& owner, std::uint32_t address, const char* what,
                              std::uint32_t pc) {
  MbarrierState& barrier = live_barrier(owner, address, what, pc, User::copy);
  if (!barrier.is_visible && is_new_finding(FindingKind::missing_fence, pc, barrier.init_pc))
    report(FindingKind::missing_fence, pc, barrier.init_pc,
           describe_here() + ": " + what + " completes on " + name_of(owner, address) +
               ", whose init at " + source_line(barrier.init_pc) +
               " no fence.mbarrier_init or fence.proxy.async made visible to it");
  barrier.issued_clock = barrier.clock();
  barrier.issued_pc = pc;
  return {&owner, &barrier, barrier.phase, barrier.clock(), here(), pc};
}

void complete_transaction(const Transaction& transaction, std::uint32_t bytes) {
  Block& owner = *transaction.owner;
  MbarrierState& barrier = *transaction.barrier;
  publish_actor(barrier.arriving.in_block, owner, barrier.agent, transaction.clock);
  barrier.bytes -= bytes;
  if (barrier.phase != transaction.phase)
    misuse(transaction.issuer, transaction.pc,
           "a copy for " + name_of(owner, barrier.address) + " that was issued in phase " +
               std::to_string(transaction.phase) + " lands in phase " +
               std::to_string(barrier.phase) + ": fewer bytes were expected than are copied");
  update(owner, barrier, transaction.issuer, transaction.pc);
}

MbarrierState& generic_barrier(Block& owner, std::uint32_t address, const char* what,
                               std::uint32_t pc) {
  return live_barrier(owner, address, what, pc);
}

void arrive_for(Block& owner, MbarrierState& barrier, const Knowledge& known, Runnable issuer,
                std::uint32_t pc) {
  barrier.arriving.in_block.join(known);
  take_arrivals(owner, barrier, 1, issuer, pc);
}

void mbarrier_init(void* pointer, std::uint32_t count) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const SharedPlace place = own_place(pointer, "mbarrier.init", pc);
  Block& block = *place.owner;
  if (place.address % kBarrierBytes != 0)
    refuse(FindingKind::misaligned, pc,
           "mbarrier.init: " + name_of(block, place.address) + " is not aligned to 8 bytes");
  if (count == 0 || count > kMostArrivals)
    refuse(FindingKind::bad_operand, pc,
           "mbarrier.init: a count of " + std::to_string(count) + " is not in 1 to 2^20 - 1");
  Mbarriers& barriers = mbarriers_of(block);
  MbarrierState* barrier = barriers.find(place.address);
  if (barrier == nullptr) {
    barriers.all.push_back(std::make_unique<MbarrierState>());
    barrier = barriers.all.back().get();
    barrier->address = place.address;
    // More barriers than agents share them: then fewer missing waits are found.
    barrier->agent =
        kFirstMbarrierAgent + static_cast<int>((barriers.all.size() - 1) % kMbarrierAgents);
  } else if (barrier->is_live) {
    misuse(here(), pc,
           "mbarrier.init: " + name_of(block, place.address) +
               " is in use (no mbarrier.inval since its init at " + source_line(barrier->init_pc) +
               ")");
  }
  check_use(block, place.address, nullptr, pc);
  barrier->first_clock += barrier->phase;
  barrier->phase = 0;
  barrier->is_live = true;
  barrier->is_visible = false;
  barrier->initialised = Epoch::make(worker()->launch.serial, block.number, worker()->thread,
                                     worker()->current().clock);
  barrier->known_from = MbarrierState::kNever;
  barrier->init_pc = pc;
  barrier->count = barrier->pending = count;
  barrier->bytes = 0;
  barrier->arriving = barrier->done = {};
  const std::uint64_t memory = memory_of(*barrier);
  std::memcpy(pointer, &memory, sizeof memory);
}

void mbarrier_invalidate(void* pointer) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const SharedPlace place = own_place(pointer, "mbarrier.inval", pc);
  MbarrierState& barrier = live_barrier(*place.owner, place.address, "mbarrier.inval", pc);
  check_use(*place.owner, place.address, nullptr, pc);
  if (!barrier.waiting.empty())
    misuse(here(), pc,
           "mbarrier.inval: " + std::to_string(barrier.waiting.size()) + " threads wait for " +
               name_of(*place.owner, place.address));
  barrier.is_live = false;
}

std::uint64_t mbarrier_arrive(void* pointer, std::uint32_t count, std::uint32_t bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  return arrive(own_place(pointer, "mbarrier.arrive", pc), "mbarrier.arrive", count, bytes,
                Scope::block, pc);
}

void mbarrier_arrive_cluster(void* pointer, std::uint32_t count, std::uint32_t bytes, Scope scope) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const SharedPlace place = shared_place(pointer, "mbarrier.arrive", pc);
  if (place.owner != worker()->block) ++worker()->counters[SimCounter::remote_shared_accesses];
  arrive(place, "mbarrier.arrive", count, bytes, scope, pc);
}

void mbarrier_expect(void* pointer, std::uint32_t bytes, bool in_cluster) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const char* const what = "mbarrier.expect_tx";
  const SharedPlace place =
      in_cluster ? shared_place(pointer, what, pc) : own_place(pointer, what, pc);
  MbarrierState& barrier = live_barrier(*place.owner, place.address, what, pc);
  expect(*place.owner, barrier, bytes, pc);
}

bool mbarrier_wait_parity(void* pointer, std::uint32_t parity, bool until_done, Scope scope) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const SharedPlace place = own_place(pointer, "mbarrier.try_wait", pc);
  MbarrierState& barrier = live_barrier(*place.owner, place.address, "mbarrier.try_wait", pc);
  if (parity > 1)
    refuse(FindingKind::bad_operand, pc,
           "mbarrier.try_wait: a parity of " + std::to_string(parity) + " is not 0 or 1");
  // The phase of that parity is the current one, or was the one before.
  const std::int64_t current = barrier.phase;
  return wait(barrier, (barrier.phase & 1) == parity ? current : current - 1, until_done, scope);
}

bool mbarrier_wait_token(void* pointer, std::uint64_t token, bool until_done) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const SharedPlace place = own_place(pointer, "mbarrier.try_wait", pc);
  MbarrierState& barrier = live_barrier(*place.owner, place.address, "mbarrier.try_wait", pc);
  if (token > barrier.phase || token + 1 < barrier.phase)
    refuse(FindingKind::bad_operand, pc,
           "mbarrier.try_wait: a token of phase " + std::to_string(token) + ", but " +
               name_of(*place.owner, place.address) + " is in phase " +
               std::to_string(barrier.phase) + ": only this and the one before can be asked for");
  return wait(barrier, static_cast<std::int64_t>(token), until_done, Scope::block);
}

// A release of nothing but the inits: the thread's next arrival at the cluster's barrier makes them
// known, even a relaxed one.
void fence_mbarrier_init() {
  ++worker()->counters[SimCounter::fences];
  for (const auto& barrier : mbarriers_of(*worker()->block).all) {
    if (barrier->initialised.actor() != worker()->thread) continue;
    barrier->is_visible = true;
    barrier->known_from = std::min(barrier->known_from, worker()->current().cluster_arrivals + 1);
  }
}

void show_mbarriers(Block& block, int thread) {
  if (block.engines == nullptr) return;
  for (const auto& barrier : mbarriers_of(block).all)
    barrier->is_visible |= is_ordered(block, block[thread], thread, barrier->initialised);
}

bool has_waited_for_copy(Block& block, int agent, std::uint32_t clock) {
  return std::ranges::any_of(mbarriers_of(block).all, [&](const auto& barrier) {
    return barrier->agent == agent && barrier->waited_clock >= clock;
  });
}

void end_mbarriers(Block& block) {
  for (const auto& barrier : mbarriers_of(block).all) {
    if (barrier->issued_clock <= barrier->waited_clock) continue;
    report(FindingKind::missing_wait, barrier->issued_pc, 0,
           describe_block(block) +
               ": a copy to shared memory was issued, and the block ended without"
               " a wait for phase " +
               std::to_string(barrier->issued_clock - barrier->first_clock) + " of " +
               name_of(block, barrier->address));
  }
}

std::string describe_mbarriers(Block& block) {
  std::string text;
  for (const auto& barrier : mbarriers_of(block).all) {
    if (!barrier->is_live) continue;
    text += "\n    " + name_of(block, barrier->address) + ": phase " +
            std::to_string(barrier->phase) + ", " + std::to_string(barrier->pending) + " of " +
            std::to_string(barrier->count) + " arrivals missing, " +
            std::to_string(barrier->bytes) + " bytes expected and not copied";
  }
  return text;
}

}  // namespace rooftile::sim
