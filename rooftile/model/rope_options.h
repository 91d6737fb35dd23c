// SPDX-License-Identifier: Apache-2.0
// A layer's rotary embedding as options of the operation.
#pragma once

#include <vector>

#include "rooftile/model/config.h"
#include "rooftile/op/bind.h"

namespace rooftile {

/// Throws Error(unsupported) for a variant that the operation does not have.
std::vector<OptionValue> rope_options(const ModelConfig& config, std::int64_t layer);

}  // namespace rooftile
