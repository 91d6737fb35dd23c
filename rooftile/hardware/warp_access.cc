// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/warp_access.h"

#include <bit>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/hardware/sm_limits.h"

namespace rooftile {

void check_access(const WarpAccess& access, int most_bytes) {
  const int width = access.bytes_per_lane;
  if (access.lane_addresses.size() > kWarpLanes)
    fail_input("a warp has " + std::to_string(kWarpLanes) + " lanes; given are " +
               std::to_string(access.lane_addresses.size()) + " addresses");
  if (width < 1 || width > most_bytes || !std::has_single_bit(static_cast<unsigned>(width)))
    fail_input("bytes_per_lane is " + std::to_string(width) + "; allowed are powers of two up to " +
               std::to_string(most_bytes));
  for (int lane = 0; lane < access.lanes(); ++lane)
    if (access.is_active(lane) && access.address(lane) % static_cast<unsigned>(width) != 0)
      fail_input("lane " + std::to_string(lane) + " accesses " + std::to_string(width) +
                 " bytes at address " + std::to_string(access.address(lane)) +
                 ", which is not a multiple of them");
}

}  // namespace rooftile
