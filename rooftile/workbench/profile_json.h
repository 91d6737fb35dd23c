// SPDX-License-Identifier: Apache-2.0
// A profile as a file: written here, read back anywhere, so that a report can be rendered on
// another machine.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/workbench/profile.h"

namespace ROOFTILE_API rooftile {

/// {"schema": 1, "profile": …} as docs/profile.schema.json describes.
std::string profile_json(const Profile& profile);

/// Reads what profile_json wrote; the text is not trusted. Throws Error(bad_input) that names the
/// field at fault; `what` names the file.
Profile profile_from_json(const std::string& text, const std::string& what);

}  // namespace rooftile
