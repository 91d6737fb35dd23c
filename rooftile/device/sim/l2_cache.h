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

  explicit L2Cache(std::uint64_t bytes);

  /// Reads, writes or both the sectors of `line` (address / 128, below 2^32) in the mask `sectors`.
  /// Sectors that are only written are not read first.
  L2Traffic access(std::uint64_t line, unsigned sectors, bool is_read, bool is_write);

  /// Nothing is cached after this, and nothing waits to be written.
  void flush();

 private:
  using Way = std::uint64_t;  // the line, above a bit for each sector that is dirty and is valid
  using Set = std::array<Way, kWays>;  // the last used first
  static constexpr unsigned kLocks = 1024;

  std::vector<Set> sets_;
  std::array<std::atomic_flag, kLocks> locks_{};
};

}  // namespace rooftile::sim
