// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/coalescing.h"

#include <algorithm>
#include <array>

#include "rooftile/hardware/sm_limits.h"

namespace rooftile {

Coalescing coalescing(const WarpAccess& access) {
  check_access(access, kSectorBytes);
  std::array<std::uint64_t, kWarpLanes> addresses;
  int active = 0;
  for (int lane = 0; lane < access.lanes(); ++lane)
    if (access.is_active(lane))
      addresses[static_cast<std::size_t>(active++)] = access.address(lane);
  const auto begin = addresses.begin();
  std::sort(begin, begin + active);
  // Why counting suffices: accesses are aligned, so two either coincide or do not touch, and none
  // crosses a sector.
  const auto distinct = [&](std::uint64_t unit_bytes) {
    int count = 0;
    for (int i = 0; i < active; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i == 0 || addresses[at] / unit_bytes != addresses[at - 1] / unit_bytes) ++count;
    }
    return count;
  };
  return {.active_lanes = active,
          .sectors = distinct(kSectorBytes),
          .lines = distinct(kLineBytes),
          .bytes_requested = std::int64_t{access.bytes_per_lane} * active,
          .distinct_bytes = std::int64_t{access.bytes_per_lane} *
                            distinct(static_cast<std::uint64_t>(access.bytes_per_lane))};
}

}  // namespace rooftile
