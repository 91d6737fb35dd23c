// SPDX-License-Identifier: Apache-2.0
// Who last accessed each byte: beside each page of memory, a page of cells. A cell stands for a
// word of 4 bytes until something accesses a part of a word of its page; from then on for a byte.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rooftile/device/sim/clocks.h"

namespace rooftile::sim {

struct Cell {
  // is_many(): a plain one, and behind it atomics, the last of them in the read's place.
  Epoch write;
  // is_many(): of shared memory the index of a ReadSet, of global memory several threads.
  Epoch read;
  std::uint32_t write_pc = 0;
  std::uint32_t read_pc = 0;
};

constexpr std::uint64_t kShadowPageBytes = 4096;

/// Cells of one page. Splitting makes new ones; the old are kept until the shadow is cleared, since
/// another thread of the host may be looking at them.
class ShadowPage {
 public:
  /// Cells for `bytes` at `offset`, and how many bytes each stands for.
  struct Range {
    Cell* first;
    std::uint32_t count;
    std::uint32_t cell_bytes;
  };
  Range cells(std::uint32_t offset, std::uint32_t bytes) {
    std::uint32_t shift = shift_.load(std::memory_order_acquire);
    if (((offset | bytes) & ((1u << shift) - 1)) != 0) shift = split(offset | bytes);
    return {levels_[shift].get() + (offset >> shift), bytes >> shift, 1u << shift};
  }
  ShadowPage();

 private:
  static constexpr std::uint32_t kCoarse = 4;  // log2 of the bytes of a cell
  static constexpr std::uint32_t kWord = 2;
  static constexpr std::uint32_t kByte = 0;
  std::uint32_t split(std::uint32_t wanted);
  std::atomic<std::uint32_t> shift_{kCoarse};
  std::array<std::unique_ptr<Cell[]>, kCoarse + 1> levels_;
  std::mutex mutex_;
};

/// The shadow of a range of addresses.
class Shadow {
 public:
  explicit Shadow(std::uint64_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  ShadowPage& page(std::uint64_t offset) {
    std::atomic<ShadowPage*>& slot = pages_[offset / kShadowPageBytes];
    ShadowPage* page = slot.load(std::memory_order_acquire);
    return page != nullptr ? *page : make_page(slot);
  }
  /// Forgets everything; not while a launch runs.
  void clear();

 private:
  ShadowPage& make_page(std::atomic<ShadowPage*>& slot);
  std::uint64_t bytes_;
  std::atomic<ShadowPage*>* pages_;  // reserved, zero where nothing was touched
  std::mutex mutex_;
  std::vector<std::unique_ptr<ShadowPage>> made_;
  std::vector<std::atomic<ShadowPage*>*> slots_;
};

}  // namespace rooftile::sim
