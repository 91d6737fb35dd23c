// SPDX-License-Identifier: Apache-2.0
// What holds for a config from either kind of file.
#pragma once

#include <string>

#include "rooftile/model/config.h"

namespace rooftile {

/// The architecture called `text` there; `name` is the file. Throws Error(unsupported).
Architecture parse_architecture(std::string_view text, const std::string& name);

/// Sets what follows from the architecture alone: activation, norms, embedding scale, q and k
/// norms. hidden must be set.
void apply_architecture(ModelConfig& config);

/// Every `period`-th layer sees everything, the others a window.
void set_sliding_pattern(ModelConfig& config, std::int64_t period);

/// Throws Error(bad_input), with `name`, where numbers are impossible or do not fit each other.
void check_config(const ModelConfig& config, const std::string& name);

}  // namespace rooftile
