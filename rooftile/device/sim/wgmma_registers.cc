// SPDX-License-Identifier: Apache-2.0
// The accumulators of wgmma between the registers of threads and the engine.
#include <algorithm>
#include <cstring>

#include "rooftile/device/sim/wgmma.h"
#include "rooftile/tile/fragment.h"

namespace rooftile::sim {
namespace {

/// Those that the threads before this one named in the operation, or used for the same registers
/// before; else new ones.
int find_accumulators(Warpgroup& group, const WgmmaOperation& operation, std::size_t lane,
                      std::uint8_t* d) {
  if (operation.accumulators >= 0) return operation.accumulators;
  const WgmmaForm& form = operation.form;
  for (std::size_t i = 0; i < group.accumulators.size(); ++i) {
    const Accumulators& known = group.accumulators[i];
    if (known.registers[lane] == d && known.n == form.n && known.type == form.d)
      return static_cast<int>(i);
  }
  group.accumulators.push_back({.type = form.d, .n = form.n});
  group.accumulators.back().values.resize(static_cast<std::size_t>(kWgmmaRows * form.n));
  return static_cast<int>(group.accumulators.size()) - 1;
}

template <class Function>
void each_element(Accumulators& of, int lane, Function function) {
  for (int i = 0; i < of.count(); ++i) {
    const FragmentElement at = wgmma_accumulator(lane, i);
    function(i, of.values[static_cast<std::size_t>(at.row * of.n + at.column)]);
  }
}

void load(Accumulators& of, int lane) {
  std::array<MatrixValue, 128> values;
  unpack_accumulators(values.data(), of.registers[static_cast<std::size_t>(lane)], of.count(),
                      of.type);
  each_element(of, lane,
               [&](int i, MatrixValue& value) { value = values[static_cast<std::size_t>(i)]; });
}

void store(Accumulators& of, int lane) {
  std::array<MatrixValue, 128> values;
  each_element(of, lane, [&](int i, const MatrixValue& value) {
    values[static_cast<std::size_t>(i)] = value;
  });
  pack_accumulators(of.registers[static_cast<std::size_t>(lane)], values.data(), of.count(),
                    of.type);
}

bool is_poisoned(const std::uint8_t* registers, std::uint32_t bytes) {
  return std::all_of(registers, registers + bytes, [](std::uint8_t byte) { return byte == 0xff; });
}

/// The function whose registers they were may have returned: then nobody can read them.
bool is_alive(const std::uint8_t* registers) {
  return reinterpret_cast<std::uint64_t>(registers) >
         reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
}

}  // namespace

void take_registers(Warpgroup& group, WgmmaOperation& operation, int thread, void* d) {
  const auto lane = static_cast<std::size_t>(thread % kWarpgroupThreads);
  auto* const registers = static_cast<std::uint8_t*>(d);
  operation.accumulators = find_accumulators(group, operation, lane, registers);
  Accumulators& accumulators = group.accumulators[static_cast<std::size_t>(operation.accumulators)];
  const auto begin = reinterpret_cast<std::uint64_t>(d);
  const std::uint64_t end = begin + accumulators.bytes();
  RegisterArray* const other = group.watches[lane].find(begin, end);
  if (other != nullptr && other->accumulators == operation.accumulators && other->begin == begin) {
    other->last_group = operation.group;
    other->pc = operation.pc;
    return;
  }
  if (other != nullptr && is_new_finding(FindingKind::registers, operation.pc, other->pc))
    report(FindingKind::registers, operation.pc, other->pc,
           describe_here() + ": the accumulators of this wgmma overlap registers of the wgmma at " +
               source_line(other->pc) + " of another shape or order, which is in flight");
  accumulators.registers[lane] = registers;
  if (operation.accumulate) load(accumulators, static_cast<int>(lane));
  std::memset(d, 0xff, accumulators.bytes());
  group.watches[lane].in_flight().push_back({.begin = begin,
                                             .end = end,
                                             .accumulators = operation.accumulators,
                                             .last_group = operation.group,
                                             .pc = operation.pc});
}

void give_registers(Warpgroup& group, int thread, std::uint32_t groups) {
  const int lane = thread % kWarpgroupThreads;
  std::vector<RegisterArray>& in_flight = group.watches[static_cast<std::size_t>(lane)].in_flight();
  for (const RegisterArray& array : in_flight) {
    if (array.last_group >= groups || array.accumulators < 0) continue;
    Accumulators& accumulators = group.accumulators[static_cast<std::size_t>(array.accumulators)];
    std::uint8_t* const registers = accumulators.registers[static_cast<std::size_t>(lane)];
    if (!is_alive(registers)) continue;
    // What the compiler's hooks did not see: the kernel's own inline assembly, say.
    if (!is_poisoned(registers, accumulators.bytes()) &&
        is_new_finding(FindingKind::registers, array.pc, 1))
      report(FindingKind::registers, array.pc, 1,
             describe_here() + ": accumulators of the wgmma at " + source_line(array.pc) +
                 " were written while it was in flight");
    store(accumulators, lane);
  }
  std::erase_if(in_flight, [&](const RegisterArray& array) { return array.last_group < groups; });
}

}  // namespace rooftile::sim
