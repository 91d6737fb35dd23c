// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/shadow.h"

#include <sys/mman.h>

#include <type_traits>

#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {
namespace {

/// Memory that nobody has written is zero already, and costs nothing so.
template <class T>
void set(T& to, T from) {
  if (from != T{}) to = from;
}

}  // namespace

template <class Function>
void Shadow::each_range(Function function) {
  function(levels_, bytes_ / kShadowPageBytes);
  for (std::uint32_t level = 0; level < kLevels; ++level) {
    const std::uint64_t count = bytes_ >> shift_of(level);
    Cells& cells = cells_[level];
    function(cells.write, count * sizeof *cells.write);
    function(cells.read, count * sizeof *cells.read);
    function(cells.write_pc, count * sizeof *cells.write_pc);
    function(cells.read_pc, count * sizeof *cells.read_pc);
  }
}

Shadow::Shadow(std::uint64_t bytes) : bytes_(bytes) {
  each_range([](auto*& memory, std::uint64_t size) {
    memory = static_cast<std::remove_reference_t<decltype(memory)>>(reserve_pages(size));
    madvise(memory, size, MADV_HUGEPAGE);
  });
}

Shadow::~Shadow() {
  each_range([](auto* memory, std::uint64_t size) { munmap(memory, size); });
}

std::uint32_t Shadow::split(std::uint64_t offset, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  std::atomic<std::uint8_t>& level = levels_[offset / kShadowPageBytes];
  const std::uint32_t from = level.load(std::memory_order_relaxed);
  const std::uint32_t to = ((offset | bytes) & (cell_bytes(1) - 1)) == 0 ? 1 : 2;
  if (from >= to) return from;
  const std::uint64_t begin = offset / kShadowPageBytes * kShadowPageBytes;
  for (std::uint64_t at = begin; at < begin + kShadowPageBytes; at += cell_bytes(to)) {
    const Cell coarse = cells_[from][at >> shift_of(from)];
    const Cell fine = cells_[to][at >> shift_of(to)];
    set(fine.write.bits, coarse.write.bits);
    set(fine.read.bits, coarse.read.bits);
    set(fine.write_pc, coarse.write_pc);
    set(fine.read_pc, coarse.read_pc);
  }
  level.store(static_cast<std::uint8_t>(to), std::memory_order_release);
  return to;
}

void Shadow::clear() {
  each_range([](auto* memory, std::uint64_t size) { madvise(memory, size, MADV_DONTNEED); });
}

}  // namespace rooftile::sim
