// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {
namespace {

/// Memory that nobody has written is zero already, and costs nothing so.
template <class T>
void set(T& to, T from) {
  if (from != T{}) to = from;
}

/// Gives whole pages back, which are zero when they are read again.
template <class T>
void zero(T* first, std::uint64_t count) {
  constexpr std::uint64_t kPage = 4096, kLeastGivenBack = 16 * kPage;
  const auto begin = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t end = begin + count * sizeof(T);
  const std::uint64_t from = (begin + kPage - 1) / kPage * kPage, to = end / kPage * kPage;
  if (end - begin < kLeastGivenBack) {
    std::memset(static_cast<void*>(first), 0, end - begin);
    return;
  }
  std::memset(reinterpret_cast<void*>(begin), 0, from - begin);
  madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(to), 0, end - to);
}

}  // namespace

template <class Function>
void Shadow::each_range(Function function) {
  function(levels_, bytes_ / kShadowPageBytes);
  function(rows_, bytes_ / Row::kBytes * sizeof *rows_);
  for (std::uint32_t level = kCells; level < kLevels; ++level) {
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
  const std::uint64_t page = offset / kShadowPageBytes * kShadowPageBytes;
  std::uint32_t now = level.load(std::memory_order_relaxed);
  if (now == kRows) {
    split_rows(page);
    now = kCells;
  }
  std::uint32_t needed = now;
  while (((offset | bytes) & (cell_bytes(needed) - 1)) != 0) ++needed;
  if (needed != now) split_cells(page, now, needed);
  level.store(static_cast<std::uint8_t>(needed), std::memory_order_release);
  return needed;
}

void Shadow::split_rows(std::uint64_t page) {
  for (std::uint64_t at = page; at < page + kShadowPageBytes; at += Row::kBytes) {
    const Row& row = rows_[at / Row::kBytes];
    const Cells cells = cells_[kCells].from(at >> shift_of(kCells));
    if ((row.written | row.has_been_read | row.read_by_several) == 0) continue;
    for (std::uint32_t lane = 0; lane < Row::kLanes; ++lane) {
      const Cell cell = cells[lane];
      const auto of_lane = [&](Epoch of_first) {
        return Epoch{of_first.bits + Epoch{}.at(static_cast<int>(lane), 0).bits};
      };
      if ((row.written >> lane & 1) != 0) {
        cell.write = of_lane(row.write);
        cell.write_pc = row.write_pc;
      }
      if (((row.has_been_read | row.read_by_several) >> lane & 1) != 0) {
        cell.read = (row.has_been_read >> lane & 1) != 0
                        ? of_lane(row.read)
                        : readers_of_several_blocks(row.read.launch());
        cell.read_pc = row.read_pc;
      }
    }
  }
}

void Shadow::split_cells(std::uint64_t page, std::uint32_t from, std::uint32_t to) {
  for (std::uint64_t at = page; at < page + kShadowPageBytes; at += cell_bytes(to)) {
    const Cell coarse = cells_[from][at >> shift_of(from)];
    const Cell fine = cells_[to][at >> shift_of(to)];
    set(fine.write.bits, coarse.write.bits);
    set(fine.read.bits, coarse.read.bits);
    set(fine.write_pc, coarse.write_pc);
    set(fine.read_pc, coarse.read_pc);
  }
}

void Shadow::clear(std::uint64_t offset, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  std::atomic<std::uint8_t>* const levels = levels_ + offset / kShadowPageBytes;
  const std::uint64_t pages = bytes / kShadowPageBytes;
  std::uint32_t finest = kRows;
  for (std::uint64_t i = 0; i < pages; ++i)
    finest = std::max<std::uint32_t>(finest, levels[i].load(std::memory_order_relaxed));
  zero(rows_ + offset / Row::kBytes, bytes / Row::kBytes);
  for (std::uint32_t level = kCells; level <= finest; ++level) {
    const Cells cells = cells_[level].from(offset >> shift_of(level));
    const std::uint64_t count = bytes >> shift_of(level);
    zero(cells.write, count);
    zero(cells.read, count);
    zero(cells.write_pc, count);
    zero(cells.read_pc, count);
  }
  for (std::uint64_t i = 0; i < pages; ++i)
    if (levels[i].load(std::memory_order_relaxed) != kRows)
      levels[i].store(kRows, std::memory_order_release);
}

void Shadow::clear() {
  each_range([](auto* memory, std::uint64_t size) { madvise(memory, size, MADV_DONTNEED); });
}

}  // namespace rooftile::sim
