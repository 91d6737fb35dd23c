// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/l2_cache.h"

#include <algorithm>
#include <bit>

namespace rooftile::sim {
namespace {

constexpr std::uint64_t kLinesOfGroup = 4;
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

L2Traffic L2Cache::access(std::uint64_t line, unsigned sectors, bool is_read, bool is_write) {
  // Why a hash: power-of-two strides would fall into few sets; hardware hashes addresses as well.
  const std::uint64_t hash =
      line / kLinesOfGroup * 0x9E3779B1u & ((std::uint64_t{1} << kGroupBits) - 1);
  // The high part of the product is the group of sets; the low part tells apart those of one group,
  // which lie at least groups_ apart in it.
  const std::uint64_t scaled = hash * groups_;
  const std::uint64_t low = scaled & ((std::uint64_t{1} << kGroupBits) - 1);
  const std::uint32_t tag = static_cast<std::uint32_t>(low >> tag_shift_) << kLineShift;
  Set& set = sets_[(scaled >> kGroupBits) * kLinesOfGroup + ((line ^ hash) % kLinesOfGroup)];

  const std::atomic_ref<Way> first(set.ways[0]);
  Way moved = first.fetch_or(kLock, std::memory_order_acquire);
  while ((moved & kLock) != 0) moved = first.fetch_or(kLock, std::memory_order_acquire);
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
  first.store(way, std::memory_order_release);
  return traffic;
}

void L2Cache::flush() { std::fill(sets_.begin(), sets_.end(), Set{}); }

}  // namespace rooftile::sim
