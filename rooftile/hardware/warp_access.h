// SPDX-License-Identifier: Apache-2.0
// One load or store instruction of one warp: an address a lane, and which lanes take part.
#pragma once

#include <cstdint>
#include <span>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

constexpr std::uint32_t kAllLanes = 0xffffffff;

struct WarpAccess {
  /// Byte address by lane, at most 32; further lanes are inactive.
  std::span<const std::uint64_t> lane_addresses;
  int bytes_per_lane = 4;
  /// Bit i: lane i takes part.
  std::uint32_t active = kAllLanes;

  [[nodiscard]] int lanes() const { return static_cast<int>(lane_addresses.size()); }
  [[nodiscard]] std::uint64_t address(int lane) const {
    return lane_addresses[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] bool is_active(int lane) const {
    return lane < lanes() && (active >> lane & 1) != 0;
  }
};

/// Throws Error(bad_input) when there are more than 32 addresses, when bytes_per_lane is no power
/// of two up to `most_bytes`, or when an active lane's address is not a multiple of it (the
/// hardware faults there).
void check_access(const WarpAccess& access, int most_bytes);

}  // namespace rooftile
