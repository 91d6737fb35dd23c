// SPDX-License-Identifier: Apache-2.0
// The findings of a launch while it runs, on several threads of the host.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "rooftile/device/sim/finding.h"

namespace rooftile::sim {

/// One for each kind and pair of places: that of the first block of the grid, whichever block the
/// host happened to run first.
class FindingList {
 public:
  using Place = std::tuple<FindingKind, std::uint32_t, std::uint32_t>;  // pc, and the other's
  /// Whether `block` is the first to find it there; otherwise it is counted. Ask before making the
  /// text.
  bool is_new(const Place& place, std::uint32_t block);
  void add(const Place& place, std::uint32_t block, std::string text);
  /// In the order of blocks, and in each as they were found.
  [[nodiscard]] std::vector<Finding> take();

 private:
  struct Entry {
    Finding finding;
    std::uint32_t block;
    std::uint64_t order;
  };
  std::mutex mutex_;
  std::uint64_t next_order_ = 0;
  std::map<Place, Entry> entries_;
};

}  // namespace rooftile::sim
