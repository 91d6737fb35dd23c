// SPDX-License-Identifier: Apache-2.0
// The few statistics that timings need: quantiles, and an interval for a median that assumes
// nothing about the distribution.
#pragma once

#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/record.h"

namespace ROOFTILE_API rooftile {

/// Median, p10 and p90 by linear interpolation between order statistics. Throws Error(internal) for
/// no samples.
Quantiles quantiles(std::vector<double> samples);

struct Interval {
  double low = 0;
  double high = 0;
};

/// An interval that holds the median with about 95 % confidence, from order statistics (binomial,
/// normal approximation: ranks n/2 -+ 0.98 sqrt(n)). With fewer than six samples: all of them.
Interval median_interval(std::vector<double> samples);

}  // namespace rooftile
