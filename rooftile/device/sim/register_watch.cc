// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/register_watch.h"

#include <algorithm>

#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/wgmma.h"

namespace rooftile::sim {

namespace {

[[gnu::cold, gnu::noinline]] void report_in_flight(const RegisterArray& array, bool is_write,
                                                   std::uint32_t pc) {
  if (!is_new_finding(FindingKind::registers, pc, array.pc)) return;
  report(FindingKind::registers, pc, array.pc,
         describe_here() + (is_write ? " writes" : " reads") + " registers of the " +
             (array.accumulators >= 0 ? "accumulators" : "operand A") + " of the wgmma at " +
             source_line(array.pc) +
             ", which is in flight: wgmma.wait_group is missing or lets its group run on");
}

}  // namespace

std::atomic<bool> registers_are_watched{false};

RegisterArray* RegisterWatch::find(std::uint64_t begin, std::uint64_t end) {
  for (RegisterArray& array : in_flight_)
    if (begin < array.end && array.begin < end) return &array;
  return nullptr;
}

void RegisterWatch::note(std::uint64_t address, std::uint32_t bytes, bool is_write,
                         std::uint32_t pc) {
  const std::uint64_t end = address + bytes;
  const RegisterArray* array = find(address, end);
  // Registers of operand A are only read by the instruction.
  if (array != nullptr && (is_write || array->accumulators >= 0))
    report_in_flight(*array, is_write, pc);
  if (touches_.size() >= kTouches) return;
  for (auto touch = touches_.rbegin(); touch != touches_.rend(); ++touch)
    if (touch->is_write == is_write && address <= touch->end && touch->begin <= end) {
      touch->begin = std::min(touch->begin, address);
      touch->end = std::max(touch->end, end);
      return;
    }
  touches_.push_back({address, end, is_write, pc});
}

void RegisterWatch::fence() {
  has_fenced = true;
  touches_.clear();
}

std::uint32_t RegisterWatch::touched(std::uint64_t begin, std::uint64_t end,
                                     bool by_writes_only) const {
  for (const Touch& touch : touches_)
    if (begin < touch.end && touch.begin < end && (touch.is_write || !by_writes_only))
      return touch.pc;
  return 0;
}

void note_registers(const void* registers, std::uint32_t bytes, bool is_write, std::uint32_t pc) {
  if (RegisterWatch* const watch = fiber_of(worker()->current().stack).watch)
    watch->note(reinterpret_cast<std::uint64_t>(registers), bytes, is_write, pc);
}

}  // namespace rooftile::sim
