// SPDX-License-Identifier: Apache-2.0
// How much of global memory one warp's load or store touches: 32-byte sectors, four to a 128-byte
// line. Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory". Measured: the
// sector counts of Nsight Compute are equal to these on an H200.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/hardware/warp_access.h"

namespace ROOFTILE_API rooftile {

constexpr int kSectorBytes = 32;
constexpr int kLineBytes = 128;

struct Coalescing {
  int active_lanes = 0;
  int sectors = 0;                   // distinct 32-byte sectors: what is moved
  int lines = 0;                     // distinct 128-byte lines: tags looked up
  std::int64_t bytes_requested = 0;  // by all lanes together
  /// Without those asked for twice: a broadcast must not make up for sectors half used.
  std::int64_t distinct_bytes = 0;

  [[nodiscard]] std::int64_t bytes_moved() const { return std::int64_t{kSectorBytes} * sectors; }
  /// The fewest sectors that could hold the distinct bytes.
  [[nodiscard]] int ideal_sectors() const {
    return static_cast<int>((distinct_bytes + kSectorBytes - 1) / kSectorBytes);
  }
  /// Distinct bytes over bytes moved: 1 is perfect, 1/32 the worst; 1 when no lane is active.
  [[nodiscard]] double efficiency() const {
    return sectors == 0 ? 1.0
                        : static_cast<double>(distinct_bytes) / static_cast<double>(bytes_moved());
  }
};

/// bytes_per_lane is 1, 2, 4, 8, 16 or, on compute capability 10.0 and later, 32. Throws
/// Error(bad_input), see check_access().
Coalescing coalescing(const WarpAccess& access);

}  // namespace rooftile
