// SPDX-License-Identifier: Apache-2.0
// A profile for a terminal.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/workbench/profile.h"

namespace ROOFTILE_API rooftile {

struct ProfileText {
  int columns = 100;  // to fit into, at least 76
  bool has_colour = false;
  std::size_t rows = 8;  // most of a table; the rest is summed up
};

/// The whole profile, most important first. What files brought in cannot move the cursor: control
/// characters are shown as '?'.
std::string profile_text(const Profile& profile, const ProfileText& options = {});

}  // namespace rooftile
