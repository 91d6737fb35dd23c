// SPDX-License-Identifier: Apache-2.0
// JSON values, keys in the order written. Not installed: no public header includes it.
#pragma once

#include <string_view>

#include "nlohmann/json.hpp"

namespace rooftile {

using Json = nlohmann::ordered_json;

/// The value that `text` is. Throws Error(bad_input) where it is no JSON or nested too deeply.
Json parse_json(std::string_view text);

/// Throws Error(bad_input) for arrays and objects nested deeper than 64. Why: copying, printing and
/// walking a value are recursive, and a file of brackets would take them past the end of the stack.
void check_json_depth(std::string_view text);

}  // namespace rooftile
