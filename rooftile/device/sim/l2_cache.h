// SPDX-License-Identifier: Apache-2.0
// A model of the L2 cache, good enough to tell the traffic that DRAM must see from the traffic that
// is repeated: 16 ways, lines of 128 bytes in four sectors, least recently used out first, writes
// kept until their line goes. What hardware adds (two partitions, prefetch promotions, a
// replacement that nobody outside knows) is not modelled, nor is the L1 cache before it: what L1
// would have served counts as read from L2, where it hits.
//
// Several threads of the host may use it at once. Which lines then stay depends on who comes first,
// so misses of a launch that overflows the cache differ a little from run to run; with
// SimOptions::os_threads = 1 they never do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace rooftile::sim {

/// What an access makes DRAM do, in sectors.
struct L2Traffic {
  unsigned read = 0;
  unsigned written = 0;  // back, to make room
};

class L2Cache {
 public:
  static constexpr unsigned kWays = 16;
  static constexpr unsigned kLineBytes = 128;
  static constexpr unsigned kSectorsOfLine = 4;
  static constexpr unsigned kLinesOfGroup = 4;  // neighbours, which are accessed together
  static constexpr unsigned kSectorsOfGroup = kLinesOfGroup * kSectorsOfLine;

  explicit L2Cache(std::uint64_t bytes);

  /// Reads, writes or both the sectors of `group` (address / 512, below 2^29) in the mask
  /// `sectors`, which is not empty. Sectors that are only written are not read first.
  L2Traffic access(std::uint64_t group, unsigned sectors, bool is_read, bool is_write);

  /// Nothing is cached after this, and nothing waits to be written.
  void flush();

 private:
  /// What a set keeps of a line; 0: none. The lock is that of a group of sets, and only in the
  /// first way of its first set.
  ///
  ///   31 lock | 30..8 which line | 7..4 sectors that are dirty | 3..0 sectors that are valid
  using Way = std::uint32_t;
  /// The way last used comes first. One line of the host's cache: workers share all sets.
  struct alignas(64) Set {
    std::array<Way, kWays> ways{};
  };
  static L2Traffic access_line(Set& set, Way tag, unsigned sectors, bool is_read, bool is_write);

  std::uint64_t groups_;  // of kLinesOfGroup sets: neighbouring lines have neighbouring sets
  unsigned tag_shift_;
  std::vector<Set> sets_;
};

}  // namespace rooftile::sim
