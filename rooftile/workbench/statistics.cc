// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/statistics.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

double at_share(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Quantiles quantiles(std::vector<double> samples) {
  if (samples.empty()) throw Error(ErrorCode::internal, "quantiles of no samples");
  std::ranges::sort(samples);
  return {.median = at_share(samples, 0.5),
          .p10 = at_share(samples, 0.1),
          .p90 = at_share(samples, 0.9),
          .n = static_cast<std::int64_t>(samples.size())};
}

Interval median_interval(std::vector<double> samples) {
  if (samples.empty()) throw Error(ErrorCode::internal, "interval of no samples");
  std::ranges::sort(samples);
  const auto n = static_cast<double>(samples.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach) - 1));
  return {samples[low], samples[high]};
}

}  // namespace rooftile
