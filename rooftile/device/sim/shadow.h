// SPDX-License-Identifier: Apache-2.0
// Who last accessed each byte: beside the memory lie cells. A cell stands for 16 bytes until
// something accesses a part of them; from then on the cells of that page stand for a word of 4
// bytes, or for a byte. Most of global memory is accessed by warps of which each lane has the next
// 16 bytes, and does not even need cells: it has rows, until something else comes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "rooftile/device/sim/clocks.h"

namespace rooftile::sim {

/// By reference: its parts lie apart (Shadow).
struct Cell {
  // is_many(): a plain one, and behind it atomics, the last of them in the read's place.
  Epoch& write;
  // is_many(): of shared memory the index of a ReadSet, of global memory several threads.
  Epoch& read;
  std::uint32_t& write_pc;
  std::uint32_t& read_pc;
};

/// Of 32 times 16 bytes, of which each is accessed by the lane of its number of one warp. One
/// thread of the host writes it, and others may look meanwhile: hence the order of what is written.
struct Row {
  /// The accesses of one kind.
  struct Kind {
    // Epoch of the warp's first lane; of others the actors differ.
    std::atomic<std::uint64_t> when{0};
    std::atomic<std::uint32_t> lanes{0};  // that did it then
    std::atomic<std::uint32_t> pc{0};

    [[nodiscard]] Epoch epoch() const { return {when.load(std::memory_order_relaxed)}; }
    [[nodiscard]] bool has_any() const { return lanes.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] bool has(std::uint32_t lane_bit) const {
      return (lanes.load(std::memory_order_relaxed) & lane_bit) != 0;
    }
    /// Of no lanes at first.
    void begin(Epoch now) {
      lanes.store(0, std::memory_order_relaxed);
      when.store(now.bits, std::memory_order_release);
    }
    void add(std::uint32_t lane_bit, std::uint32_t at) {
      pc.store(at, std::memory_order_relaxed);
      lanes.store(lanes.load(std::memory_order_relaxed) | lane_bit, std::memory_order_release);
    }
  };
  Kind write, read;
  static constexpr std::uint32_t kLaneBytes = 16, kLanes = 32;
  static constexpr std::uint32_t kBytes = kLaneBytes * kLanes;
};

constexpr std::uint64_t kShadowPageBytes = 4096;

/// The shadow of a range of addresses. Each level has cells for all of it, at addresses that cost
/// memory only where they are written, so that a cell's place is a matter of arithmetic. Why apart:
/// most memory is only read or only written by a launch, and then half of a cell costs nothing.
class Shadow {
 public:
  explicit Shadow(std::uint64_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  struct Cells {
    Epoch* write;
    Epoch* read;
    std::uint32_t* write_pc;
    std::uint32_t* read_pc;
    [[nodiscard]] Cells from(std::uint64_t first) const {
      return {write + first, read + first, write_pc + first, read_pc + first};
    }
    Cell operator[](std::uint64_t i) const { return {write[i], read[i], write_pc[i], read_pc[i]}; }
  };
  /// Some cells, and how many bytes each stands for.
  struct Range {
    Cells cells;
    std::uint32_t count;
    std::uint32_t cell_bytes;
    Cell operator[](std::uint32_t i) const { return cells[i]; }
  };
  /// Who alone may use a page's rows in a launch: one thread of the host.
  static std::uint32_t row_owner(std::uint32_t launch, std::size_t worker) {
    return launch << 24 | static_cast<std::uint32_t>(worker % (1u << 16)) << 8;
  }
  /// The row of these bytes, for that one; null where the page has cells, or is another's.
  Row* own_row(std::uint64_t offset, std::uint32_t owner) {
    std::atomic<std::uint32_t>& page = pages_[offset / kShadowPageBytes];
    std::uint32_t now = page.load(std::memory_order_acquire);
    const bool is_own = now == owner || (level_of(now) == kRows && now >> 24 != owner >> 24 &&
                                         page.compare_exchange_strong(now, owner));
    return is_own ? &rows_[offset / Row::kBytes] : nullptr;
  }
  /// The same for any, to look at; null where the page has cells.
  [[nodiscard]] const Row* row(std::uint64_t offset) const {
    return level(offset) == kRows ? &rows_[offset / Row::kBytes] : nullptr;
  }
  /// Of `bytes` at `offset`, which lie in one page.
  Range cells(std::uint64_t offset, std::uint64_t bytes) {
    std::uint32_t level = this->level(offset);
    if (level == kRows || ((offset | bytes) & (cell_bytes(level) - 1)) != 0)
      level = split(offset, bytes);
    const std::uint32_t shift = shift_of(level);
    return {cells_[level].from(offset >> shift), static_cast<std::uint32_t>(bytes >> shift),
            cell_bytes(level)};
  }
  /// Forgets who accessed these bytes, whole pages, which nothing accesses meanwhile.
  void clear(std::uint64_t offset, std::uint64_t bytes);
  /// Forgets everything; not while a launch runs.
  void clear();

 private:
  // Of rows, and of cells of 16 bytes, of 4, of 1.
  static constexpr std::uint32_t kRows = 0, kCells = 1, kLevels = 4;
  static constexpr std::uint32_t shift_of(std::uint32_t level) { return 6 - 2 * level; }
  static constexpr std::uint32_t cell_bytes(std::uint32_t level) { return 1u << shift_of(level); }
  static constexpr std::uint32_t level_of(std::uint32_t page) { return page & 0xff; }
  [[nodiscard]] std::uint32_t level(std::uint64_t offset) const {
    return level_of(pages_[offset / kShadowPageBytes].load(std::memory_order_acquire));
  }
  /// Gives a page the cells that such an access needs. The coarser ones stay as they were, since
  /// another thread of the host may be looking at them.
  std::uint32_t split(std::uint64_t offset, std::uint64_t bytes);
  void split_rows(std::uint64_t page);
  void split_cells(std::uint64_t page, std::uint32_t from, std::uint32_t to);
  /// Calls function(memory, bytes) for each range of addresses that it has reserved.
  template <class Function>
  void each_range(Function function);

  std::uint64_t bytes_;
  // Of each page its level, and if it has rows their owner.
  //
  //   31..24 launch | 23..8 worker | 7..0 level
  std::atomic<std::uint32_t>* pages_;
  Row* rows_ = nullptr;
  std::array<Cells, kLevels> cells_{};  // but of kRows
  std::mutex mutex_;
};

}  // namespace rooftile::sim
