// SPDX-License-Identifier: Apache-2.0
// The roofline as a drawing: both axes logarithmic, a slope for each access mix, a flat roof for
// each unit, a mark for each kernel of each phase whose area is its time.
#pragma once

#include <string>

#include "rooftile/workbench/html.h"
#include "rooftile/workbench/profile.h"

namespace rooftile {

struct RooflineSvg {
  int width = 1020;
  int height = 520;
  const char* css_class = "wide";
};

/// Empty when no kernel has both operations and bytes. Squares are prefill, circles decode.
std::string roofline_svg(const Profile& profile, const OperationColours& colours,
                         const RooflineSvg& options);

/// Kernels that have no place on it, in words; may be empty.
std::string not_on_roofline(const Profile& profile);

}  // namespace rooftile
