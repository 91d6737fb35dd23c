// SPDX-License-Identifier: Apache-2.0
// A profile as one page that needs nothing else: no network, no other file.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/workbench/profile.h"

namespace ROOFTILE_API rooftile {

/// The page, with its style and script in it; every text of the profile is escaped.
std::string profile_html(const Profile& profile);

}  // namespace rooftile
