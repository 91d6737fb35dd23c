// SPDX-License-Identifier: Apache-2.0
// JSON files of models: untrusted, so that a key that stands twice in an object is an error, as is
// deep nesting. Not installed: no public header includes it.
#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace rooftile {

/// Why not base/json.h: its objects keep the order of writing, and so take quadratic time.
using StrictJson = nlohmann::json;

/// The value that `text` is; `name` stands in errors.
/// Throws Error(bad_input) where it is no JSON, has a key twice or is nested deeper than 32.
StrictJson parse_strict_json(std::string_view text, const std::string& name);

}  // namespace rooftile
