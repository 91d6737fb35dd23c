// SPDX-License-Identifier: Apache-2.0
// The roofline as text for a terminal: both axes logarithmic, a sloped roof for each access mix, a
// flat one for each unit, one letter a record.
#pragma once

#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/ceilings.h"
#include "rooftile/op/record.h"

namespace ROOFTILE_API rooftile {

struct RooflineText {
  int columns = 100;        // to fit into, at least 60
  int rows = 18;            // of the plot itself
  bool has_colour = false;  // ANSI escapes
};

/// The plot with its legend. Records without a valid time or without operations have no place on it
/// and are counted below. Empty when no record has one.
std::string roofline_text(const std::vector<Record>& records, const Ceilings& ceilings,
                          const RooflineText& options = {});

}  // namespace rooftile
