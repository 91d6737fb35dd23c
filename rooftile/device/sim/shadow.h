// SPDX-License-Identifier: Apache-2.0
// Who last accessed each byte: beside the memory lie cells. A cell stands for 16 bytes until
// something accesses a part of them; from then on the cells of that page stand for a word of 4
// bytes, or for a byte.
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
  /// Of `bytes` at `offset`, which lie in one page.
  Range cells(std::uint64_t offset, std::uint64_t bytes) {
    std::uint32_t level = levels_[offset / kShadowPageBytes].load(std::memory_order_acquire);
    if (((offset | bytes) & (cell_bytes(level) - 1)) != 0) level = split(offset, bytes);
    const std::uint32_t shift = shift_of(level);
    return {cells_[level].from(offset >> shift), static_cast<std::uint32_t>(bytes >> shift),
            cell_bytes(level)};
  }
  /// Forgets everything; not while a launch runs.
  void clear();

 private:
  static constexpr std::uint32_t kLevels = 3;  // of 16 bytes a cell, of 4, of 1
  static constexpr std::uint32_t shift_of(std::uint32_t level) { return 4 - 2 * level; }
  static constexpr std::uint32_t cell_bytes(std::uint32_t level) { return 1u << shift_of(level); }
  /// Gives a page the cells that such an access needs. The coarser ones stay as they were, since
  /// another thread of the host may be looking at them.
  std::uint32_t split(std::uint64_t offset, std::uint64_t bytes);
  /// Calls function(memory, bytes) for each range of addresses that it has reserved.
  template <class Function>
  void each_range(Function function);

  std::uint64_t bytes_;
  std::atomic<std::uint8_t>* levels_;  // of each page
  std::array<Cells, kLevels> cells_{};
  std::mutex mutex_;
};

}  // namespace rooftile::sim
