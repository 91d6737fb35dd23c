// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp run one after another here; on the GPU they run together. The accesses that
// each logged are joined again: those with the same instruction are one request, the instruction
// with the lowest address first (as compilers lay out code, lanes that wait for others are ahead in
// it).
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "rooftile/device/sim/access_log.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/l2_cache.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/hardware/banks.h"

namespace rooftile::sim {
namespace {

struct Request {
  std::array<std::uint64_t, kLanes> address;  // of those in `lanes`
  std::uint32_t lanes = 0;
  std::uint32_t pc = ~0u;
  std::uint8_t bytes = 0;
  std::uint8_t flags = 0;
  [[nodiscard]] MemorySpace space() const { return static_cast<MemorySpace>(flags & 1); }
  [[nodiscard]] AccessOp op() const { return static_cast<AccessOp>(flags >> 1); }
};

/// Every lane accesses what follows the lane's before it.
bool is_contiguous(const Request& request) {
  if (request.lanes != ~0u) return false;
  const std::uint64_t first = request.address[0];
  bool holds = first % 128 == 0;
  for (std::size_t i = 1; i < kLanes; ++i) holds &= request.address[i] == first + i * request.bytes;
  return holds;
}

/// The sectors `mask` of a group of lines reach L2; how many lines they are of.
std::uint64_t touch_group(Worker& self, std::uint64_t group, unsigned mask, bool is_read,
                          bool is_write) {
  static_assert(GlobalMemory::kSectorsOfGroup == L2Cache::kSectorsOfGroup);
  self.memory.mark_touched(group, static_cast<std::uint16_t>(mask), is_write);
  const L2Traffic traffic = self.launch.l2->access(group, mask, is_read, is_write);
  self.counters[SimCounter::l2_read_misses] += traffic.read;
  self.counters[SimCounter::dram_written_sectors] += traffic.written;
  constexpr unsigned kFirstOfLines = 0x1111;
  return static_cast<std::uint64_t>(
      std::popcount((mask | mask >> 1 | mask >> 2 | mask >> 3) & kFirstOfLines));
}

/// Sectors from `first` on, group by group; of how many lines.
std::uint64_t touch_sectors(Worker& self, std::uint64_t first, std::uint64_t count, bool is_read,
                            bool is_write) {
  constexpr std::uint64_t kGroup = L2Cache::kSectorsOfGroup;
  std::uint64_t lines = 0;
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t group_end = std::min(end, (first / kGroup + 1) * kGroup);
    const auto mask = static_cast<unsigned>(((1u << (group_end - first)) - 1) << (first % kGroup));
    lines += touch_group(self, first / kGroup, mask, is_read, is_write);
    first = group_end;
  }
  return lines;
}

void count_global(Worker& self, const Request& request, Site& site) {
  GlobalMemory& memory = self.memory;
  const AccessOp op = request.op();
  const bool is_write = op != AccessOp::load;
  const bool is_read = op != AccessOp::store;
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;
  if (is_contiguous(request)) {
    sectors = std::uint64_t{request.bytes} * kLanes / GlobalMemory::kSectorBytes;
    lines = touch_sectors(self, memory.sector(request.address[0]), sectors, is_read, is_write);
  } else {
    std::array<std::uint64_t, std::size_t{2} * kLanes> touched{};
    std::size_t count = 0;
    for (std::uint32_t left = request.lanes; left != 0; left &= left - 1) {
      const std::uint64_t address =
          request.address[static_cast<std::size_t>(std::countr_zero(left))];
      const std::uint64_t first = memory.sector(address);
      const std::uint64_t last = memory.sector(address + request.bytes - 1);
      touched[count++] = first;
      if (last != first) touched[count++] = last;
    }
    std::sort(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(count));
    const auto end =
        std::unique(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(count));
    sectors = static_cast<std::uint64_t>(end - touched.begin());
    for (auto at = touched.begin(); at != end;) {
      const std::uint64_t group = *at / L2Cache::kSectorsOfGroup;
      unsigned mask = 0;
      for (; at != end && *at / L2Cache::kSectorsOfGroup == group; ++at)
        mask |= 1u << (*at % L2Cache::kSectorsOfGroup);
      lines += touch_group(self, group, mask, is_read, is_write);
    }
  }
  site.sectors += sectors;
  self.counters[SimCounter::l2_requests] += lines;
  if (is_read) self.counters[SimCounter::l2_read_sectors] += sectors;
  const std::uint64_t bytes =
      std::uint64_t{request.bytes} * static_cast<std::uint64_t>(std::popcount(request.lanes));
  using enum SimCounter;
  const auto add = [&](SimCounter requests, SimCounter moved) {
    ++self.counters[requests];
    self.counters[moved] += sectors;
  };
  switch (op) {
    case AccessOp::load:
      add(global_load_requests, global_load_sectors);
      self.counters[global_load_bytes] += bytes;
      break;
    case AccessOp::store:
      add(global_store_requests, global_store_sectors);
      self.counters[global_store_bytes] += bytes;
      break;
    case AccessOp::atomic:
      add(global_atomic_requests, global_atomic_sectors);
      break;
  }
}

void count_shared(Worker& self, const Block& block, const Request& request, Site& site) {
  std::array<std::uint64_t, kLanes> address{};
  std::uint32_t lanes = request.lanes;
  bool is_remote = false;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    Block* owner = owner_of_shared(request.address[lane]);
    is_remote = is_remote || (owner != nullptr && owner != &block);
    address[lane] = window_address(owner != nullptr ? *owner : block, request.address[lane]);
    // An access that is misaligned was reported; it is counted as if it were not.
    address[lane] -= address[lane] % request.bytes;
  }
  const AccessOp op = request.op();
  const BankAccess access =
      bank_access({.lane_addresses = address, .bytes_per_lane = request.bytes, .active = lanes},
                  op == AccessOp::load ? AccessKind::load : AccessKind::store);
  const auto wavefronts = static_cast<std::uint64_t>(access.wavefronts);
  const auto conflicts = static_cast<std::uint64_t>(access.conflicts());
  site.wavefronts += wavefronts;
  site.conflicts += conflicts;
  using enum SimCounter;
  if (op == AccessOp::atomic) {
    ++self.counters[shared_atomic_requests];
    return;
  }
  if (is_remote) return;  // Nsight Compute counts them elsewhere
  const bool is_load = op == AccessOp::load;
  ++self.counters[is_load ? shared_load_requests : shared_store_requests];
  self.counters[is_load ? shared_load_wavefronts : shared_store_wavefronts] += wavefronts;
  self.counters[is_load ? shared_load_conflicts : shared_store_conflicts] += conflicts;
}

void count(Block& block, const Request& request) {
  Worker& self = *worker();
  Site& site = self.site(request.pc, request.flags, request.bytes);
  const auto lanes = static_cast<std::uint64_t>(std::popcount(request.lanes));
  ++site.requests;
  site.lanes += lanes;
  ++self.counters[SimCounter::memory_instructions];
  self.counters[SimCounter::memory_lanes] += lanes;
  if (request.space() == MemorySpace::global)
    count_global(self, request, site);
  else
    count_shared(self, block, request, site);
}

/// The logs of a warp's lanes while they are read.
struct Logs {
  std::array<const LoggedAccess*, kLanes> next;  // of the active
  std::array<const LoggedAccess*, kLanes> end;
  std::uint32_t active = 0;
  void pass(std::size_t lane) {
    if ((next[lane] += kLanes) == end[lane]) active &= ~(1u << lane);
  }
};

/// The request of the lowest instruction, which not all lanes have next.
[[gnu::noinline]] void take_lowest(Logs& logs, Request& request) {
  for (std::uint32_t left = logs.active; left != 0; left &= left - 1)
    request.pc =
        std::min(request.pc, logs.next[static_cast<std::size_t>(std::countr_zero(left))]->pc);
  for (std::uint32_t left = logs.active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const LoggedAccess& access = *logs.next[lane];
    if (access.pc != request.pc) continue;
    // One instruction may reach both spaces through generic addresses: then it is two requests.
    if (request.lanes != 0 && (access.flags != request.flags || access.bytes != request.bytes))
      continue;
    request.flags = access.flags;
    request.bytes = access.bytes;
    request.address[lane] = access.address;
    request.lanes |= 1u << lane;
    logs.pass(lane);
  }
}

void take_request(Logs& logs, Request& request) {
  request.lanes = 0;
  request.pc = ~0u;
  const LoggedAccess& first = *logs.next[static_cast<std::size_t>(std::countr_zero(logs.active))];
  bool is_one = true;
  for (std::uint32_t left = logs.active; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const LoggedAccess& access = *logs.next[lane];
    is_one &= access.pc == first.pc && access.flags == first.flags && access.bytes == first.bytes;
    request.address[lane] = access.address;
  }
  if (!is_one) return take_lowest(logs, request);
  request.pc = first.pc;
  request.flags = first.flags;
  request.bytes = first.bytes;
  request.lanes = logs.active;
  for (std::uint32_t left = logs.active; left != 0; left &= left - 1)
    logs.pass(static_cast<std::size_t>(std::countr_zero(left)));
}

}  // namespace

std::uint64_t touch_global(std::uint64_t address, std::uint64_t bytes, bool is_read,
                           bool is_write) {
  if (bytes == 0) return 0;
  Worker& self = *worker();
  const std::uint64_t first = self.memory.sector(address);
  const std::uint64_t count = self.memory.sector(address + bytes - 1) - first + 1;
  return touch_sectors(self, first, count, is_read, is_write);
}

Site& Worker::site(std::uint32_t pc, std::uint8_t flags, std::uint8_t bytes) {
  const auto find = [&]() -> Site& {
    std::size_t at = (pc * 2654435761u >> 12) % sites.size();
    while (sites[at].requests != 0 && (sites[at].pc != pc || sites[at].flags != flags))
      at = (at + 1) % sites.size();
    return sites[at];
  };
  Site* site = &find();
  if (site->requests == 0) {
    std::size_t used = 0;
    for (const Site& other : sites) used += other.requests != 0 ? 1 : 0;
    if (2 * used >= sites.size()) {
      std::vector<Site> old(2 * sites.size());
      old.swap(sites);
      for (const Site& moved : old)
        if (moved.requests != 0) this->site(moved.pc, moved.flags, moved.bytes) = moved;
    }
    site = &find();
    site->pc = pc;
    site->flags = flags;
    site->bytes = bytes;
  }
  return *site;
}

void flush_warp(Block& block, int number) {
  Warp& warp = block.warps[static_cast<std::size_t>(number)];
  if (warp.logged == 0) return;
  Logs logs;
  logs.active = std::exchange(warp.logged, 0);
  for (std::uint32_t left = logs.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Thread& thread = block[number * kLanes + lane];
    const auto at = static_cast<std::size_t>(lane);
    logs.next[at] = thread.log;
    logs.end[at] = thread.log + std::size_t{thread.logged} * kLanes;
    thread.logged = 0;
  }
  Request request;
  while (logs.active != 0) {
    take_request(logs, request);
    count(block, request);
  }
}

void empty_log(Worker& self) {
  // The other lanes may catch up, so that what belongs together is joined.
  make_ready(*self.block, self.thread);
  block_thread(State::ready);
  if (self.current().logged >= kLoggedAccesses) flush_warp(*self.block, self.thread / kLanes);
}

}  // namespace rooftile::sim
