// SPDX-License-Identifier: Apache-2.0
// JSON values, keys in the order written. Not installed: no public header includes it.
#pragma once

#include "nlohmann/json.hpp"

namespace rooftile {
using Json = nlohmann::ordered_json;
}
