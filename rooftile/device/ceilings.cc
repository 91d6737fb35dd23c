// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/ceilings.h"

#include <algorithm>

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;

double between(double from, double to, double share) { return from + (to - from) * share; }

}  // namespace

double Ceilings::bytes_per_s(double write_share) const {
  constexpr double kTriad = 1.0 / 3;
  constexpr double kCopy = 1.0 / 2;
  if (write_share <= kTriad) return between(read.per_s, triad.per_s, write_share / kTriad);
  if (write_share <= kCopy)
    return between(triad.per_s, copy.per_s, (write_share - kTriad) / (kCopy - kTriad));
  return between(copy.per_s, write.per_s, (write_share - kCopy) / (1 - kCopy));
}

Floor floor_of(const Cost& cost, const Ceilings& ceilings) {
  Floor floor;
  if (cost.bytes() > 0) {
    const double rate = ceilings.bytes_per_s(cost.bytes_written / cost.bytes());
    if (rate > 0) floor.memory_us = cost.bytes() / rate * kMicro;
  }
  for (std::size_t unit = 0; unit < cost.ops.size(); ++unit)
    if (ceilings.units[unit] && ceilings.units[unit]->per_s > 0)
      floor.compute_us =
          std::max(floor.compute_us, cost.ops[unit] / ceilings.units[unit]->per_s * kMicro);
  floor.time_us = std::max(floor.memory_us, floor.compute_us);
  if (floor.time_us > 0)
    floor.bound = floor.memory_us >= floor.compute_us ? Bound::memory : Bound::compute;
  return floor;
}

double sheet_floor_us(const Cost& cost, const Ceilings& ceilings) {
  double floor_us = 0;
  if (ceilings.sheet_bytes_per_s) floor_us = cost.bytes() / *ceilings.sheet_bytes_per_s * kMicro;
  for (std::size_t unit = 0; unit < cost.ops.size(); ++unit)
    if (ceilings.sheet_ops_per_s[unit])
      floor_us = std::max(floor_us, cost.ops[unit] / *ceilings.sheet_ops_per_s[unit] * kMicro);
  return floor_us;
}

}  // namespace rooftile
