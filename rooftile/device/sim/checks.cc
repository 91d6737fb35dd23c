// SPDX-License-Identifier: Apache-2.0
// Races, uninitialised reads, missing waits and proxy fences: each access against the last ones of
// the same bytes. The rules are FastTrack's (Flanagan and Freund 2009), with GPU's barriers as
// clocks.h has them.
#include <algorithm>
#include <bit>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/tile/sim/runtime.h"

namespace rooftile::sim {
namespace {

// Reports are cold, and functions of their own: inlined, their texts would cost every access a
// frame of hundreds of bytes and the registers.

bool is_engine(int actor) { return actor >= kMaxThreads && actor != kSeveralBlocks; }

/// Engines are known by the threads that waited for them, and an engine's work is ordered behind
/// what the thread that issued it knew.
bool is_before(const Check& check, Epoch earlier, Reach reach) {
  return earlier.is_of_actor_of(check.now) ||
         is_ordered(check.observer, check.thread, check.access.thread, earlier, reach);
}

std::string where(const Check& check, std::uint64_t address) {
  if (check.owner != nullptr) return describe_shared(*check.owner, address);
  const GlobalMemory& memory = GlobalMemory::get();
  const std::optional<Allocation> allocation = memory.find(address);
  if (!allocation) return "global memory";
  return "byte " + std::to_string(address - allocation->begin) + " of an allocation of " +
         std::to_string(allocation->end - allocation->begin) + " bytes";
}

std::string who(const Check& check, Epoch epoch) {
  if (epoch.actor() == kSeveralBlocks) return "threads of several blocks";
  if (epoch.block() == check.observer.number % Epoch::kBlocks)
    return describe_actor(check.observer, epoch.actor());
  for (const auto& block : check.observer.cluster->blocks)
    if (block->number % Epoch::kBlocks == epoch.block())
      return describe_actor(*block, epoch.actor());
  std::string text = "block " + std::to_string(epoch.block());
  if (!is_engine(epoch.actor())) text += " thread " + std::to_string(epoch.actor());
  return text;
}

[[gnu::cold, gnu::noinline]] void report_race(const Check& check, std::uint64_t address,
                                              Epoch earlier, std::uint32_t earlier_pc,
                                              bool was_write) {
  const bool one_is_engine = is_engine(earlier.actor()) != is_engine(check.access.actor);
  const FindingKind kind =
      is_engine(earlier.actor()) && one_is_engine ? FindingKind::missing_wait : FindingKind::race;
  const std::uint32_t pc = check.access.pc;
  if (!is_new_finding(kind, pc, earlier_pc)) return;
  const std::string mine = std::string(check.access.is_strong ? " atomically" : "") +
                           (check.access.is_write ? " writes " : " reads ");
  const std::string theirs =
      std::string(earlier.is_strong() ? " atomically" : "") + (was_write ? " wrote" : " read");
  std::string text = describe_actor(check.access.block(), check.access.actor) + mine +
                     where(check, address) + ", which " + who(check, earlier) + theirs + " at " +
                     source_line(earlier_pc) + ", and nothing orders the two";
  if (kind == FindingKind::missing_wait) text += ": the asynchronous operation was not waited for";
  report(kind, pc, earlier_pc, std::move(text));
}

[[gnu::cold, gnu::noinline]] void report_uninitialised(const Check& check, std::uint64_t address) {
  if (is_padding(check, address)) return;
  if (!is_new_finding(FindingKind::uninitialised, check.access.pc, 0)) return;
  report(FindingKind::uninitialised, check.access.pc, 0,
         describe_actor(check.access.block(), check.access.actor) + " reads " +
             where(check, address) + ", which nothing has written");
}

/// What kernels ahead did with the cell that may still run.
[[gnu::noinline]] void check_grid_ahead(const Check& check, const Cell& cell,
                                        std::uint64_t address) {
  const GridsAhead& ahead = check.observer.worker.launch.ahead;
  const auto is_of = [](Epoch epoch, std::uint32_t oldest, std::uint32_t end) {
    return oldest != 0 && epoch.launch() >= oldest && epoch.launch() < end;
  };
  const auto is_touched = [&](std::uint32_t oldest, std::uint32_t end) {
    return is_of(cell.write, oldest, end) ||
           (check.access.is_write && is_of(cell.read, oldest, end));
  };
  if (!is_touched(ahead.before_wait, check.launch)) return;
  const bool has_waited = knows_grid_ahead(check.observer, check.access.thread);
  if (has_waited && !is_touched(ahead.after_wait, check.launch - 1)) return;
  const std::uint32_t pc = check.access.pc;
  if (!is_new_finding(FindingKind::missing_wait, pc, 0)) return;
  const bool is_written = is_of(cell.write, ahead.before_wait, check.launch);
  report(FindingKind::missing_wait, pc, 0,
         describe_actor(check.access.block(), check.access.actor) +
             (check.access.is_write ? " writes " : " reads ") + where(check, address) + ", which " +
             (has_waited ? "a kernel further ahead " : "the kernel ahead ") +
             (is_written ? "writes" : "reads") + ": it may still run, " +
             (has_waited ? "for which the one between has called no griddepcontrol.wait"
                         : "no griddepcontrol.wait comes before"));
}

[[gnu::cold, gnu::noinline]] void report_no_proxy_fence(const Check& check, std::uint64_t address,
                                                        const Cell& cell) {
  if (!is_new_finding(FindingKind::missing_fence, check.access.pc, cell.write_pc)) return;
  report(FindingKind::missing_fence, check.access.pc, cell.write_pc,
         describe_actor(check.access.block(), check.access.actor) +
             (check.access.is_write ? " writes " : " reads ") + where(check, address) +
             " through the asynchronous proxy, which " + who(check, cell.write) + " wrote at " +
             source_line(cell.write_pc) + ": no fence.proxy.async comes between");
}

/// Written by a thread, read or written by an engine: between the two must be the proxy fence of
/// some thread. (What a thread has only read, an engine may write without.)
[[gnu::noinline]] bool check_proxy(const Check& check, std::uint64_t address, const Cell& cell) {
  if (is_engine(cell.write.actor()) || is_fenced(check, cell.write)) return true;
  report_no_proxy_fence(check, address, cell);
  return false;
}

/// Of the readers of a cell of global memory only that there are several is kept, with the latest
/// clock; where they are of several blocks, nothing but that.
void add_global_reader(const Check& check, const Cell& cell) {
  const bool are_strong = cell.read.is_strong() && check.now.is_strong();
  if (cell.read.actor() == kSeveralBlocks) {
    // Why not write the same again: the workers would take the line from each other.
    if (are_strong == cell.read.is_strong()) return;
  }
  Epoch readers{(check.now.bits & ~Epoch::kStrong) | Epoch::kMany};
  if (cell.read.block() != check.now.block()) readers = readers_of_several_blocks(check.launch);
  if (are_strong) readers.bits |= Epoch::kStrong;
  cell.read = readers;
  cell.read_pc = check.access.pc;
}

/// A new reader beside others that it is not ordered behind.
void add_reader(const Check& check, const Cell& cell) {
  const AccessCheck& access = check.access;
  if (check.owner == nullptr) {
    add_global_reader(check, cell);
    return;
  }
  std::uint32_t index = cell.read.clock();
  const std::uint32_t block = check.owner->number % Epoch::kBlocks;
  if (!cell.read.is_many()) {
    ReadSet& set = check.owner->new_read_set(index);
    set.add(cell.read, block);
    set.add(check.now, block);
    cell.read = {Epoch::make(check.launch, check.owner->number, 0, index).bits | Epoch::kMany};
  } else {
    check.owner->read_sets[index]->add(check.now, block);
  }
  cell.read_pc = access.pc;
}

/// Another access than an atomic's comes: the last atomic takes the place of the store before it.
[[gnu::cold, gnu::noinline]] void forget_store(const Check& check, const Cell& cell,
                                               std::uint64_t address) {
  if (check.access.is_strong && !is_before(check, cell.write, Reach::seen))
    report_race(check, address, cell.write, cell.write_pc, true);
  cell.write = cell.read;
  cell.write_pc = cell.read_pc;
  cell.read = {};
}

/// Atomics do not race with each other, but with a plain store before them: it stays.
[[gnu::noinline]] void write_atomically(const Check& check, const Cell& cell) {
  const bool is_behind_store = cell.write.launch() == check.launch && !cell.write.is_strong();
  (is_behind_store ? cell.read : cell.write) = check.now;
  (is_behind_store ? cell.read_pc : cell.write_pc) = check.access.pc;
  if (is_behind_store) cell.write.bits |= Epoch::kMany;
}

/// Whether nothing is wrong with a read of what this launch wrote.
bool check_written(const Check& check, const Cell& cell, std::uint64_t address) {
  const AccessCheck& access = check.access;
  if (cell.write.is_many()) forget_store(check, cell, address);
  if (!(access.is_strong && cell.write.is_strong()) && !is_before(check, cell.write, Reach::seen)) {
    report_race(check, address, cell.write, cell.write_pc, true);
    return false;
  }
  return !access.is_async_proxy || check_proxy(check, address, cell);
}

void check_read(Check& check, const Cell& cell, std::uint64_t address) {
  const AccessCheck& access = check.access;
  const bool is_written = cell.write.launch() == check.launch;
  if (is_written && cell.write.bits != check.known_write.bits &&
      check_written(check, cell, address))
    check.known_write = cell.write;
  const bool is_read = cell.read.launch() == check.launch;
  const bool replaces =
      !is_read || (!cell.read.is_many() && is_before(check, cell.read, Reach::over));
  if (replaces) {
    cell.read = check.now;
    cell.read_pc = access.pc;
  } else {
    add_reader(check, cell);
  }
}

/// The readers of a cell that several threads read, against a write.
void check_readers(const Check& check, const Cell& cell, std::uint64_t address) {
  if (check.owner == nullptr) {
    const bool is_own = cell.read.actor() != kSeveralBlocks &&
                        cell.read.block() == check.observer.number % Epoch::kBlocks;
    const bool is_known =
        is_own ? cell.read.clock() <= check.thread.floor || check.thread.actors
               : check.thread.foreign != nullptr && check.thread.foreign->has_synchronised();
    if (!is_known)
      report_race(check, address, {cell.read.bits & ~Epoch::kMany}, cell.read_pc, false);
    return;
  }
  const Epoch own = Epoch::make(check.launch, check.owner->number, 0, 0);
  check.owner->read_sets[cell.read.clock()]->each(own, [&](Epoch read) {
    if (is_before(check, read, Reach::over)) return true;
    report_race(check, address, read, cell.read_pc, false);
    return false;
  });
}

void check_write(const Check& check, const Cell& cell, std::uint64_t address) {
  const AccessCheck& access = check.access;
  const bool both_strong = access.is_strong && cell.write.is_strong();
  if (cell.write.launch() == check.launch && !both_strong) {
    if (cell.write.is_many() && !access.is_strong) forget_store(check, cell, address);
    if (!is_before(check, cell.write, Reach::seen))
      report_race(check, address, cell.write, cell.write_pc, true);
    else if (access.is_async_proxy)
      check_proxy(check, address, cell);
  }
  if (cell.read.launch() == check.launch && !(access.is_strong && cell.read.is_strong())) {
    if (cell.read.is_many())
      check_readers(check, cell, address);
    else if (!is_before(check, cell.read, Reach::over))
      report_race(check, address, cell.read, cell.read_pc, false);
  }
  if (check.owner != nullptr && cell.read.is_many() && cell.read.launch() == check.launch)
    check.owner->free_read_sets.push_back(cell.read.clock());
  if (cell.read.bits != 0) cell.read = {};
  if (access.is_strong) return write_atomically(check, cell);
  cell.write = check.now;
  cell.write_pc = access.pc;
}

/// Shared memory belongs to one block after another: what an earlier one left is nothing.
void forget_earlier_blocks(const Check& check, const Cell& cell) {
  // A block of the same cluster may have accessed it through the owner's window.
  const Epoch own = Epoch::make(check.launch, check.owner->number, 0, 0);
  const auto is_stale = [&](Epoch epoch) {
    if (epoch.is_of_block_of(own)) return false;
    if (epoch.launch() != check.launch) return true;
    const std::uint32_t block = epoch.block();
    for (const auto& other : check.owner->cluster->blocks)
      if (other->number % Epoch::kBlocks == block) return false;
    return true;
  };
  if (cell.write.bits != 0 && is_stale(cell.write)) cell.write = {};
  if (cell.read.bits != 0 && is_stale(cell.read)) cell.read = {};
}

/// A read that was checked before, by another of the actor's threads perhaps, of a known write.
bool is_read_again(const Check& check, const Cell& cell) {
  return cell.read.bits == check.now.bits && cell.write.bits == check.known_write.bits;
}

void check_cells(Check& check, Shadow& shadow, std::uint64_t offset, std::uint64_t address,
                 std::uint64_t bytes) {
  while (bytes != 0) {
    const std::uint64_t count = std::min(bytes, kShadowPageBytes - offset % kShadowPageBytes);
    const Shadow::Range range = shadow.cells(offset, count);
    for (std::uint32_t i = 0; i < range.count; ++i) {
      const Cell cell = range[i];
      if (!check.access.is_write && is_read_again(check, cell)) {
        cell.read_pc = check.access.pc;
        continue;
      }
      const std::uint64_t at = address + std::uint64_t{i} * range.cell_bytes;
      if (check.owner != nullptr) {
        forget_earlier_blocks(check, cell);
        if (!check.access.is_write && cell.write.bits == 0) report_uninitialised(check, at);
      } else if (check.overlaps) {
        check_grid_ahead(check, cell, at);
      }
      if (check.access.is_write)
        check_write(check, cell, at);
      else
        check_read(check, cell, at);
    }
    offset += count;
    address += count;
    bytes -= count;
  }
}

[[gnu::cold, gnu::noinline]] void report_outside(std::uint64_t address,
                                                 const std::optional<Allocation>& allocation,
                                                 std::uint64_t bytes, bool is_write,
                                                 std::uint32_t pc) {
  if (!is_new_finding(FindingKind::out_of_bounds, pc, 0)) return;
  const GlobalMemory& memory = GlobalMemory::get();
  const std::string place =
      allocation ? memory.describe(allocation->end) : memory.describe(address);
  report(FindingKind::out_of_bounds, pc, 0,
         describe_here() + (is_write ? " writes " : " reads ") + std::to_string(bytes) +
             " bytes of global memory " + place);
}

/// Ends the launch: later times would be taken for others.
[[gnu::cold, gnu::noinline]] void refuse_clock(const AccessCheck& access) {
  report(FindingKind::unsupported, access.pc, 0,
         describe_actor(access.block(), access.actor) + ": more than " +
             std::to_string(Epoch::kClocks - 1) +
             " synchronisations of a block, which the simulator cannot tell apart (check=off runs"
             " it unchecked)");
  abandon();
}

Epoch now_of(const AccessCheck& access) {
  if (access.clock >= Epoch::kClocks) refuse_clock(access);
  Epoch now = access.block().began.at(access.actor, access.clock);
  if (access.is_strong) now.bits |= Epoch::kStrong;
  return now;
}

[[gnu::cold, gnu::noinline]] void report_constant(std::uint64_t address, const Cell& cell,
                                                  std::uint32_t pc) {
  if (!is_new_finding(FindingKind::race, pc, cell.write_pc)) return;
  Block& block = *worker()->block;
  const AccessCheck access{.observer = &block,
                           .thread = worker()->thread,
                           .actor = worker()->thread,
                           .clock = worker()->current().clock,
                           .pc = pc};
  const Check check(access, nullptr);
  report(FindingKind::race, pc, cell.write_pc,
         describe_here() + " reads " + where(check, address) +
             " as constant (ld.global.nc), which " + who(check, cell.write) + " wrote at " +
             source_line(cell.write_pc) + ", in the same kernel: no barrier orders the two");
}

}  // namespace

Check::Check(const AccessCheck& of, Block* owner_of_shared)
    : access(of),
      observer(*of.observer),
      thread(observer[of.thread]),
      owner(owner_of_shared),
      launch(observer.worker.launch.serial),
      overlaps(observer.worker.launch.ahead.before_wait != 0),
      now(now_of(of)),
      known_write(of.known_write) {}

void check_access(Check& check, std::uint64_t address, std::uint64_t bytes) {
  Block& owner = *check.owner;
  if (&owner != &check.observer && check.access.actor == check.access.thread)
    note_remote_access(check.access, owner, address);
  const ShadowPlace place = shadow_place(check, address);
  check_cells(check, place.shadow, place.offset, address, bytes);
}

void check_access(const AccessCheck& access, Block& owner, std::uint64_t address,
                  std::uint64_t bytes) {
  Check check(access, &owner);
  check_access(check, address, bytes);
}

void check_global_access(const AccessCheck& access, std::uint64_t address, std::uint64_t bytes) {
  Check check(access, nullptr);
  GlobalMemory& memory = access.observer->worker.memory;
  if (access.is_write)
    memory.mark_initialised(address, bytes);
  else if (!memory.is_initialised(address, bytes))
    report_uninitialised(check, address);
  check_cells(check, *access.observer->worker.launch.global_shadow, address - memory.base(),
              address, bytes);
}

void check_value(std::uint64_t address, std::uint32_t bytes, std::uint32_t pc) {
  Worker& self = *worker();
  // The access itself comes after this, and says what else is wrong with it.
  if (!self.launch.options.check || address % bytes != 0) return;
  const AccessCheck access{.observer = self.block,
                           .thread = self.thread,
                           .actor = self.thread,
                           .clock = self.current().clock,
                           .pc = pc};
  if (self.memory.contains(address)) {
    if (is_allocated(self, address, bytes) && !self.memory.is_initialised(address, bytes))
      report_uninitialised(Check(access, nullptr), address);
    return;
  }
  Block* const owner = owner_of_shared(address);
  if (owner == nullptr || !lies_in_shared(*owner, address, bytes)) return;
  const Check check(access, owner);
  const ShadowPlace place = shadow_place(check, address);
  const Shadow::Range cells = place.shadow.cells(place.offset, bytes);
  for (std::uint32_t i = 0; i < cells.count; ++i) {
    forget_earlier_blocks(check, cells[i]);
    if (cells[i].write.bits == 0) return report_uninitialised(check, address);
  }
}

void check_constant(const void* pointer, std::uint32_t bytes) {
  const Worker& self = *worker();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  // The load itself comes after this, and says what else is wrong with it.
  if (!self.launch.options.check || !self.memory.contains(address)) return;
  const std::uint64_t offset = address - self.memory.base();
  const Row* const row = self.launch.global_shadow->row(offset);
  if (row != nullptr && row->write.epoch().launch() != self.launch.serial) return;
  const std::uint64_t of_page = kShadowPageBytes - offset % kShadowPageBytes;
  const Shadow::Range range =
      self.launch.global_shadow->cells(offset, std::min<std::uint64_t>(bytes, of_page));
  for (std::uint32_t i = 0; i < range.count; ++i)
    if (range[i].write.launch() == self.launch.serial)
      report_constant(address + std::uint64_t{i} * range.cell_bytes, range[i], ROOFTILE_SIM_PC);
}

bool is_allocated(Worker& self, std::uint64_t address, std::uint64_t bytes) {
  if (self.hits_again(address, bytes)) return true;
  const std::optional<Allocation> allocation = self.memory.find(address);
  if (!allocation || address + bytes > allocation->end) return false;
  self.allocations[self.next_allocation++ % self.allocations.size()] = {allocation->begin,
                                                                        allocation->end};
  return true;
}

bool check_global_bounds(std::uint64_t address, std::uint64_t bytes, bool is_write,
                         std::uint32_t pc) {
  Worker& self = *worker();
  if (is_allocated(self, address, bytes)) return true;
  report_outside(address, self.memory.find(address), bytes, is_write, pc);
  return false;
}

}  // namespace rooftile::sim
