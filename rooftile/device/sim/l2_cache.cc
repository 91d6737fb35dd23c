// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/l2_cache.h"

#include <algorithm>
#include <bit>

namespace rooftile::sim {
namespace {

constexpr unsigned kDirtyShift = L2Cache::kSectorsOfLine;
constexpr unsigned kLineShift = 2 * L2Cache::kSectorsOfLine;
constexpr std::uint64_t kSectorMask = (1u << L2Cache::kSectorsOfLine) - 1;

unsigned sectors_in(std::uint64_t mask) { return static_cast<unsigned>(std::popcount(mask)); }

/// One way's bits, moved to the front of its set.
template <class Set>
std::uint64_t& move_to_front(Set& set, std::size_t at) {
  std::rotate(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(at),
              set.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return set.front();
}

}  // namespace

L2Cache::L2Cache(std::uint64_t bytes)
    : sets_(std::max<std::uint64_t>(1, bytes / (std::uint64_t{kLineBytes} * kWays))) {}

L2Traffic L2Cache::access(std::uint64_t line, unsigned sectors, bool is_read, bool is_write) {
  // Why a hash: power-of-two strides would fall into few sets; hardware hashes addresses as well.
  const auto hash = static_cast<std::uint32_t>(line * 0x9E3779B1u);
  const std::size_t number = (std::uint64_t{hash} * sets_.size()) >> 32;
  std::atomic_flag& lock = locks_[number % kLocks];
  while (lock.test_and_set(std::memory_order_acquire)) {
  }
  Set& set = sets_[number];
  std::size_t at = 0;
  // A way that holds nothing is 0: line 0 with no valid sector is the same.
  while (at < kWays - 1 && set[at] >> kLineShift != line && set[at] != 0) ++at;
  L2Traffic traffic;
  Way& way = move_to_front(set, at);
  if (way >> kLineShift != line) {
    traffic.written = sectors_in(way >> kDirtyShift & kSectorMask);
    way = line << kLineShift;
  }
  if (is_read) traffic.read = sectors_in(sectors & ~way & kSectorMask);
  way |= sectors;
  if (is_write) way |= std::uint64_t{sectors} << kDirtyShift;
  lock.clear(std::memory_order_release);
  return traffic;
}

void L2Cache::flush() { std::fill(sets_.begin(), sets_.end(), Set{}); }

}  // namespace rooftile::sim
