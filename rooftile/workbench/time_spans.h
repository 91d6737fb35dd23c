// SPDX-License-Identifier: Apache-2.0
// Spans of time that may overlap: their union, and what of it each one may claim.
#pragma once

#include <span>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct TimeSpan {
  double start_us = 0;
  double end_us = 0;  // not before the start
  [[nodiscard]] double length() const { return end_us - start_us; }
};

struct SharedTime {
  double union_us = 0;            // overlap counts once
  std::vector<double> shares_us;  // of each span; they add up to the union
};

/// Each moment of the union is split evenly among the spans that cover it.
SharedTime share_out(std::span<const TimeSpan> spans);

}  // namespace rooftile
