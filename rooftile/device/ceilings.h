// SPDX-License-Identifier: Apache-2.0
// The measured limits of a device, and the data sheet's beside them.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "rooftile/base/api.h"
#include "rooftile/core/cost.h"

namespace ROOFTILE_API rooftile {

/// One limit. `spread` is the relative half-width of the samples around it, (p90 - p10) / 2 /
/// median.
struct Ceiling {
  double per_s = 0;
  double spread = 0;
  std::string source;  // the probe or kernel that reached it
};

struct Ceilings {
  // Bytes moved per second, reads and writes counted together.
  Ceiling read;                                           // 1 : 0
  Ceiling triad;                                          // 2 : 1
  Ceiling copy;                                           // 1 : 1
  Ceiling write;                                          // 0 : 1
  std::array<std::optional<Ceiling>, kNumUnits> units{};  // operations per second
  std::optional<double> sheet_bytes_per_s{};              // data sheet, where there is one
  std::array<std::optional<double>, kNumUnits> sheet_ops_per_s{};

  /// Bytes per second attainable by an access mix, from its share of written bytes in [0, 1]:
  /// linear between the four measured mixes (0, 1/3, 1/2, 1).
  [[nodiscard]] double bytes_per_s(double write_share) const;
};

enum class Bound : std::uint8_t { memory, compute, none };

/// Where a cost stands under the ceilings.
struct Floor {
  double time_us = 0;  // nothing on this device can be faster
  double memory_us = 0;
  double compute_us = 0;  // 0 when no ceiling is known for the units used
  Bound bound = Bound::none;
};

/// The larger of the time for the bytes and the time for each unit's operations (units overlap).
Floor floor_of(const Cost& cost, const Ceilings& ceilings);

/// The same from the data sheet alone: a sample below it is invalid. 0 when the sheet says nothing.
double sheet_floor_us(const Cost& cost, const Ceilings& ceilings);

}  // namespace rooftile
