// SPDX-License-Identifier: Apache-2.0
// What a record keeps of a kernel's launch that was simulated: counts, occupancy, predicted time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Named figures in their order.
using Figures = std::vector<std::pair<std::string, double>>;

/// One memory instruction of the source.
struct LineRecord {
  std::string place;   // "rmsnorm.cu:24"
  std::string access;  // "global load of 16 bytes"
  Figures counts;      // requests, lanes, and sectors or wavefronts
  std::string remark{};
};

struct LaunchRecord {
  std::string kernel;
  std::string shape;
  std::optional<std::int64_t> registers{};  // of a thread; absent: not compiled by nvcc
  std::int64_t blocks_per_sm = 0;
  std::string occupancy{};              // a sentence: what limits it
  Figures counters{};                   // those that are not 0, by our names
  std::optional<double> simulated_s{};  // how long that took on the host
  double predicted_us = 0;
  Figures terms_us{};   // of the prediction
  std::string binds{};  // one of them
  std::string why{};    // a sentence
  std::vector<LineRecord> lines{};
};

}  // namespace rooftile
