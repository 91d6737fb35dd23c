// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/l2_cache.h"

#include <algorithm>
#include <bit>

namespace rooftile::sim {
namespace {

constexpr unsigned kGroupBits = 29;
constexpr unsigned kDirtyShift = L2Cache::kSectorsOfLine;
constexpr unsigned kLineShift = 2 * L2Cache::kSectorsOfLine;
constexpr std::uint32_t kSectorMask = (1u << L2Cache::kSectorsOfLine) - 1;
constexpr std::uint32_t kLock = 1u << 31;
constexpr std::uint64_t kLeastGroups = 64;  // so that a line's number fits a way

unsigned sectors_in(std::uint32_t mask) { return static_cast<unsigned>(std::popcount(mask)); }

}  // namespace

L2Cache::L2Cache(std::uint64_t bytes)
    : groups_(std::max(kLeastGroups, bytes / (kLinesOfGroup * kLineBytes * kWays))),
      tag_shift_(static_cast<unsigned>(std::bit_width(groups_)) - 1),
      sets_(groups_ * kLinesOfGroup) {}

L2Traffic L2Cache::access_line(Set& set, Way tag, unsigned sectors, bool is_read, bool is_write) {
  const std::atomic_ref<Way> first(set.ways[0]);
  const Way before = first.load(std::memory_order_relaxed);
  Way moved = before & ~kLock;
  // Those before the line move back by one, into its place or that of the last.
  for (std::size_t at = 1; at < kWays && (moved & ~((1u << kLineShift) - 1)) != tag; ++at)
    std::swap(moved, set.ways[at]);
  L2Traffic traffic;
  Way way = moved;
  if (way >> kLineShift != tag >> kLineShift) {
    traffic.written = sectors_in(way >> kDirtyShift & kSectorMask);
    way = tag;
  }
  if (is_read) traffic.read = sectors_in(sectors & ~way & kSectorMask);
  way |= sectors;
  if (is_write) way |= sectors << kDirtyShift;
  first.store(way | (before & kLock), std::memory_order_relaxed);
  return traffic;
}

L2Traffic L2Cache::access(std::uint64_t group, unsigned sectors, bool is_read, bool is_write) {
  // Why a hash: power-of-two strides would fall into few sets; hardware hashes addresses as well.
  const std::uint64_t hash = group * 0x9E3779B1u & ((std::uint64_t{1} << kGroupBits) - 1);
  // The high part of the product is the group of sets; the low part tells apart those of one group,
  // which lie at least groups_ apart in it.
  const std::uint64_t scaled = hash * groups_;
  const std::uint64_t low = scaled & ((std::uint64_t{1} << kGroupBits) - 1);
  const Way tag = static_cast<Way>(low >> tag_shift_) << kLineShift;
  Set* const sets = &sets_[(scaled >> kGroupBits) * kLinesOfGroup];
  for (unsigned line = 1; line < kLinesOfGroup; ++line) __builtin_prefetch(&sets[line], 1);

  const std::atomic_ref<Way> lock(sets[0].ways[0]);
  while ((lock.fetch_or(kLock, std::memory_order_acquire) & kLock) != 0) {
  }
  L2Traffic traffic;
  for (unsigned line = 0; line < kLinesOfGroup; ++line) {
    const unsigned of_line = sectors >> line * kSectorsOfLine & kSectorMask;
    if (of_line == 0) continue;
    const L2Traffic more =
        access_line(sets[(line ^ hash) % kLinesOfGroup], tag, of_line, is_read, is_write);
    traffic.read += more.read;
    traffic.written += more.written;
  }
  lock.store(lock.load(std::memory_order_relaxed) & ~kLock, std::memory_order_release);
  return traffic;
}

void L2Cache::flush() { std::fill(sets_.begin(), sets_.end(), Set{}); }

}  // namespace rooftile::sim
