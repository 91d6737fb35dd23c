// SPDX-License-Identifier: Apache-2.0
// A copy of a struct reads its padding, which nobody may have written.
#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {
namespace {

constexpr std::uint64_t kWordBytes = 4;

Shadow::Range word_at(const Check& check, std::uint64_t address) {
  const ShadowPlace place = shadow_place(check, address);
  return place.shadow.cells(place.offset, kWordBytes);
}

bool is_partly_written(const Check& check, std::uint64_t word) {
  if (check.owner == nullptr) {
    const GlobalMemory& memory = check.observer.worker.memory;
    for (std::uint64_t i = 0; i < kWordBytes; ++i)
      if (memory.is_initialised(word + i, 1)) return true;
    return false;
  }
  const Shadow::Range cells = word_at(check, word);
  for (std::uint32_t i = 0; i < cells.count; ++i)
    if (cells[i].write.launch() == check.launch) return true;
  return false;
}

bool is_written_at_once(const Check& check, std::uint64_t first, std::uint64_t second) {
  const Cell one = word_at(check, first)[0];
  const Cell other = word_at(check, second)[0];
  return one.write.bits != 0 && one.write.bits == other.write.bits &&
         one.write_pc == other.write_pc;
}

}  // namespace

bool is_padding(const Check& check, std::uint64_t address) {
  const Worker::Hit& copied = check.observer.worker.copied;
  if (address < copied.begin || address >= copied.end) return false;
  const std::uint64_t word = address & ~(kWordBytes - 1);
  if (is_partly_written(check, word)) return true;
  const std::uint64_t other = word ^ kWordBytes;
  if (other < copied.begin || other >= copied.end || !is_partly_written(check, other)) return false;
  constexpr std::uint64_t kMember = 2 * kWordBytes;
  for (std::uint64_t at = (copied.begin + kMember - 1) & ~(kMember - 1); at + kMember <= copied.end;
       at += kMember)
    if (is_written_at_once(check, at, at + kWordBytes)) return true;
  return false;
}

}  // namespace rooftile::sim
