// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
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

/// What is known of a row's lanes, to their cells. Its owner may go on meanwhile: of a time that
/// has not changed the lanes are right.
void spread(const Row::Kind& kind, Epoch* to, std::uint32_t* to_pc) {
  std::uint64_t when = 0;
  std::uint32_t lanes = 0, pc = 0;
  do {
    when = kind.when.load(std::memory_order_acquire);
    lanes = kind.lanes.load(std::memory_order_acquire);
    pc = kind.pc.load(std::memory_order_acquire);
  } while (kind.when.load(std::memory_order_acquire) != when);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    to[lane] = {when + Epoch{}.at(lane, 0).bits};
    to_pc[lane] = pc;
  }
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
  function(pages_, bytes_ / kShadowPageBytes * sizeof *pages_);
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
  const std::uint64_t page = offset / kShadowPageBytes * kShadowPageBytes;
  std::uint32_t now = level(offset);
  if (now == kRows) {
    split_rows(page);
    now = kCells;
  }
  std::uint32_t needed = now;
  while (((offset | bytes) & (cell_bytes(needed) - 1)) != 0) ++needed;
  if (needed != now) split_cells(page, now, needed);
  pages_[offset / kShadowPageBytes].store(needed, std::memory_order_release);
  return needed;
}

void Shadow::split_rows(std::uint64_t page) {
  for (std::uint64_t at = page; at < page + kShadowPageBytes; at += Row::kBytes) {
    const Row& row = rows_[at / Row::kBytes];
    const Cells cells = cells_[kCells].from(at >> shift_of(kCells));
    spread(row.write, cells.write, cells.write_pc);
    spread(row.read, cells.read, cells.read_pc);
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
  const std::uint64_t pages = bytes / kShadowPageBytes;
  std::uint32_t finest = kRows;
  for (std::uint64_t i = 0; i < pages; ++i)
    finest = std::max(finest, level(offset + i * kShadowPageBytes));
  zero(rows_ + offset / Row::kBytes, bytes / Row::kBytes);
  for (std::uint32_t level = kCells; level <= finest; ++level) {
    const Cells cells = cells_[level].from(offset >> shift_of(level));
    const std::uint64_t count = bytes >> shift_of(level);
    zero(cells.write, count);
    zero(cells.read, count);
    zero(cells.write_pc, count);
    zero(cells.read_pc, count);
  }
  zero(pages_ + offset / kShadowPageBytes, pages);
}

void Shadow::clear() {
  each_range([](auto* memory, std::uint64_t size) { madvise(memory, size, MADV_DONTNEED); });
}

}  // namespace rooftile::sim
