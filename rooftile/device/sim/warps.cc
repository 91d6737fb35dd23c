// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together: shuffles, votes, reductions, __syncwarp. Source: PTX ISA,
// "shfl", "vote", "match", "redux", "bar.warp.sync".
#include <bit>

#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/switch.h"

namespace rooftile::sim {
namespace {

template <class Function>
void each_lane(std::uint32_t lanes, Function function) {
  for (std::uint32_t left = lanes; left != 0; left &= left - 1)
    function(static_cast<std::size_t>(std::countr_zero(left)));
}

/// `before` and `after` stand around the mask. Not inlined: the text would cost each operation of a
/// lane a large frame.
[[gnu::cold, gnu::noinline]] void report_divergence(std::uint32_t mask, std::uint32_t pc,
                                                    std::uint32_t other_pc, const char* before,
                                                    const char* after) {
  std::array<char, 16> hexadecimal{};
  std::snprintf(hexadecimal.data(), hexadecimal.size(), "0x%08x", mask);
  std::string text = describe_here() + before + hexadecimal.data() + after;
  if (other_pc > 1) text += source_line(other_pc);  // 0 and 1 tell the two other faults apart
  report(FindingKind::divergence, pc, other_pc, std::move(text));
}

/// The one that lacks the lane, or one that begins with it.
inline Gathering& find_gathering(Warp& warp, std::uint32_t kind, std::uint32_t mask,
                                 std::uint32_t bit, std::uint32_t pc,
                                 const WarpOperation& complete) {
  for (int i = 0; i < warp.gathering_count; ++i) {
    Gathering& gathering = warp.gatherings[static_cast<std::size_t>(i)];
    if (gathering.mask == mask && (gathering.arrived & bit) == 0) return gathering;
  }
  Gathering& first = warp.gatherings[static_cast<std::size_t>(warp.gathering_count++)];
  return first = {mask, 0, kind, pc, &complete};
}

/// Of each of these lanes the value of the lane that `from` names, of a number and a source. Of no
/// others: they may not have taken yet what another operation gave them.
template <class From>
void exchange(Warp& warp, std::uint32_t lanes, From from) {
  each_lane(lanes, [&](std::size_t l) {
    const auto other = static_cast<std::size_t>(from(static_cast<int>(l), warp.source[l]));
    // Undefined where that lane takes no part: NaN, and no index.
    const bool is_there = (lanes >> (other % kLanes) & 1) != 0;
    warp.result[l] = is_there ? warp.value[other % kLanes] : ~std::uint64_t{0};
  });
}

void exchange(Shuffle kind, Warp& warp, std::uint32_t lanes) {
  const auto first_of = [](int lane, ShuffleSource of) { return lane & ~(of.width - 1); };
  switch (kind) {
    case Shuffle::index:
      return exchange(warp, lanes, [=](int lane, ShuffleSource of) {
        return first_of(lane, of) + (of.operand & (of.width - 1));
      });
    case Shuffle::up:
      return exchange(warp, lanes, [=](int lane, ShuffleSource of) {
        return lane - of.operand < first_of(lane, of) ? lane : lane - of.operand;
      });
    case Shuffle::down:
      return exchange(warp, lanes, [=](int lane, ShuffleSource of) {
        return lane + of.operand >= first_of(lane, of) + of.width ? lane : lane + of.operand;
      });
    case Shuffle::exclusive_or:
      return exchange(warp, lanes, [=](int lane, ShuffleSource of) {
        const int other = lane ^ of.operand;
        return other >= first_of(lane, of) + of.width ? lane : other;
      });
  }
}

std::uint32_t reduced(Reduce kind, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a);
  const auto sb = static_cast<std::int32_t>(b);
  switch (kind) {
    case Reduce::add:
      return a + b;
    case Reduce::min_signed:
      return sa < sb ? a : b;
    case Reduce::max_signed:
      return sa > sb ? a : b;
    case Reduce::min_unsigned:
      return a < b ? a : b;
    case Reduce::max_unsigned:
      return a > b ? a : b;
    case Reduce::bit_and:
      return a & b;
    case Reduce::bit_or:
      return a | b;
    case Reduce::bit_xor:
      return a ^ b;
  }
  return 0;
}

enum : std::uint32_t {
  kShuffle = 0x100,
  kVote = 0x200,
  kReduce = 0x300,
  kSyncWarp = 0x400,
  kActiveMask = 0x500
};

/// These wait for the lanes of their mask that have not returned (CUDA C++ Programming Guide, "Warp
/// Shuffle Functions" and its neighbours); the matrix instructions need the whole warp.
bool goes_without_returned(std::uint32_t kind) { return kind >= kShuffle && kind <= kActiveMask; }

/// The lanes whose operation of that kind is to wait for these.
inline std::uint32_t wanted_lanes(const Warp& warp, std::uint32_t kind, std::uint32_t mask) {
  return goes_without_returned(kind) ? mask & warp.live : mask;
}

void vote_result(Vote kind, Warp& warp, std::uint32_t lanes) {
  std::uint32_t ballot = 0;
  each_lane(lanes,
            [&](std::size_t l) { ballot |= static_cast<std::uint32_t>(warp.value[l] != 0) << l; });
  const std::uint64_t first = warp.value[static_cast<std::size_t>(std::countr_zero(lanes))];
  bool all_same = true;
  each_lane(lanes, [&](std::size_t l) { all_same &= warp.value[l] == first; });
  each_lane(lanes, [&](std::size_t l) {
    std::uint32_t same = 0;
    if (kind == Vote::match_any)
      each_lane(lanes, [&](std::size_t other) {
        same |= static_cast<std::uint32_t>(warp.value[other] == warp.value[l]) << other;
      });
    switch (kind) {
      case Vote::ballot:
        warp.result[l] = ballot;
        break;
      case Vote::all:
        warp.result[l] = static_cast<std::uint64_t>(ballot == lanes);
        break;
      case Vote::any:
        warp.result[l] = static_cast<std::uint64_t>(ballot != 0);
        break;
      case Vote::match_any:
        warp.result[l] = same;
        break;
      case Vote::match_all:
        warp.result[l] = all_same ? lanes : 0;
        break;
    }
  });
}

/// __syncwarp orders memory among the lanes; the other operations do not.
void order_lanes(Block& block, int warp_number, std::uint32_t lanes) {
  const int first = warp_number * kLanes;
  if (lanes == block.lanes_of(warp_number) && !block.has_actors && !block.has_foreign) {
    const std::uint32_t now = block.latest_clock++;
    each_lane(lanes, [&](std::size_t l) {
      Thread& thread = block[first + static_cast<int>(l)];
      thread.warp_floor = now;
      thread.clock = now + 1;
    });
    return;
  }
  Knowledge known;
  each_lane(lanes, [&](std::size_t l) { publish(known, block, first + static_cast<int>(l)); });
  each_lane(lanes, [&](std::size_t l) { learn(block, first + static_cast<int>(l), known); });
}

/// The lanes run on before other warps do: their stacks are in the nearest cache, and a warp often
/// has the next operation soon. Not always: others must come, and begin, to write what a warp waits
/// for in a loop.
void wake_lanes(Block& block, int warp_number, std::uint32_t lanes) {
  constexpr std::uint32_t kOperationsAtOnce = 32;
  Warp& warp = block.warps[static_cast<std::size_t>(warp_number)];
  const Turn turn = ++warp.operations % kOperationsAtOnce == 0 ? Turn::last : Turn::next;
  if (turn == Turn::last) block.cluster->start_threads(kLanes);
  make_lanes_ready(block, warp_number, lanes, turn);
}

inline void check_mask(const Warp& warp, std::uint32_t kind, std::uint32_t mask, std::uint32_t bit,
                       std::uint32_t pc) {
  if ((mask & bit) == 0) {
    report_divergence(mask, pc, 0, ": its lane is not in the mask ",
                      " of the warp operation it executes");
    abandon();
  }
  if (!goes_without_returned(kind) && (mask & ~warp.live) != 0)
    report_divergence(mask, pc, 1, ": the mask ",
                      " of a warp operation names lanes that have returned");
}

/// All lanes have come, or those that have not are gone: the current lane is the last or has left.
/// Not inlined: the others would need its frame on their stacks.
template <class Complete>
[[gnu::noinline]] void complete_gathering(Worker& self, Warp& warp, Gathering& gathering,
                                          const Complete& complete) {
  Block& block = *self.block;
  const int number = self.thread / kLanes;
  const std::uint32_t current = 1u << self.thread % kLanes;
  const std::uint32_t lanes = gathering.arrived;
  gathering = warp.gatherings[static_cast<std::size_t>(--warp.gathering_count)];
  ++self.counters[SimCounter::warp_collectives];
  complete(warp, lanes);
  if ((lanes & warp.live) == warp.live) flush_warp(block, number);
  wake_lanes(block, number, lanes & ~current);
}

/// What gather_warp() does, of which each operation has its own copy: they are most of what a
/// kernel with reductions does. Little lives across the switch, so that little of a stack is used.
template <class Complete>
[[gnu::always_inline]] inline std::uint64_t gather(std::uint32_t kind, std::uint32_t mask,
                                                   std::uint64_t value, std::uint32_t pc,
                                                   const Complete& complete) {
  const Fiber& fiber = *this_fiber();
  Worker& self = *fiber.worker;
  Warp& warp = *fiber.warp;
  const std::uint32_t bit = 1u << fiber.lane;
  const std::uint64_t& result = warp.result[fiber.lane];
  mask &= warp.lanes;
  warp.value[fiber.lane] = value;
  check_mask(warp, kind, mask, bit, pc);
  const WarpOperation operation(complete);
  Gathering& gathering = find_gathering(warp, kind, mask, bit, pc, operation);
  if (gathering.kind != kind)
    report_divergence(mask, pc, gathering.pc, ": other lanes of ",
                      " execute another warp operation, at ");
  gathering.arrived |= bit;
  if (gathering.arrived == wanted_lanes(warp, kind, mask))
    complete_gathering(self, warp, gathering, complete);
  else
    block_current(self, State::warp, mask);
  return result;
}

}  // namespace

std::uint64_t gather_warp(std::uint32_t kind, std::uint32_t mask, std::uint64_t value,
                          std::uint32_t pc, WarpOperation complete) {
  return gather(kind, mask, value, pc, complete);
}

void thread_left_warp(Block& block, int number) {
  Warp& warp = block.warps[static_cast<std::size_t>(number)];
  for (int i = 0; i < warp.gathering_count;) {
    Gathering& gathering = warp.gatherings[static_cast<std::size_t>(i)];
    if (gathering.arrived != 0 &&
        gathering.arrived == wanted_lanes(warp, gathering.kind, gathering.mask))
      complete_gathering(block.worker, warp, gathering, *gathering.complete);
    else
      ++i;
  }
}

std::uint64_t shuffle(Shuffle kind, std::uint32_t mask, std::uint64_t value, int operand,
                      int width) {
  const Fiber& fiber = *this_fiber();
  fiber.warp->source[fiber.lane] = {operand, width};
  return gather(kShuffle + static_cast<std::uint32_t>(kind), mask, value, ROOFTILE_SIM_PC,
                [kind](Warp& warp, std::uint32_t lanes) { exchange(kind, warp, lanes); });
}

std::uint32_t vote(Vote kind, std::uint32_t mask, std::uint64_t value) {
  return static_cast<std::uint32_t>(
      gather(kVote + static_cast<std::uint32_t>(kind), mask, value, ROOFTILE_SIM_PC,
             [kind](Warp& warp, std::uint32_t lanes) { vote_result(kind, warp, lanes); }));
}

std::uint32_t reduce(Reduce kind, std::uint32_t mask, std::uint32_t value) {
  return static_cast<std::uint32_t>(
      gather(kReduce + static_cast<std::uint32_t>(kind), mask, value, ROOFTILE_SIM_PC,
             [kind](Warp& warp, std::uint32_t lanes) {
               const int first = std::countr_zero(lanes);
               auto all = static_cast<std::uint32_t>(warp.value[static_cast<std::size_t>(first)]);
               each_lane(lanes & (lanes - 1), [&](std::size_t l) {
                 all = reduced(kind, all, static_cast<std::uint32_t>(warp.value[l]));
               });
               each_lane(lanes, [&](std::size_t l) { warp.result[l] = all; });
             }));
}

void sync_warp(std::uint32_t mask) {
  const int number = worker()->thread / kLanes;
  gather(kSyncWarp, mask, 0, ROOFTILE_SIM_PC,
         [number](Warp&, std::uint32_t lanes) { order_lanes(*worker()->block, number, lanes); });
}

std::uint32_t active_mask() {
  return static_cast<std::uint32_t>(
      gather(kActiveMask, ~0u, 0, ROOFTILE_SIM_PC, [](Warp& warp, std::uint32_t lanes) {
        each_lane(lanes, [&](std::size_t l) { warp.result[l] = lanes; });
      }));
}

}  // namespace rooftile::sim
