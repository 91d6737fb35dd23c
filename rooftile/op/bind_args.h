// SPDX-License-Identifier: Apache-2.0
// The part of bind that deals with arguments: presence, dtypes, views, scales and aliases.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/problem.h"
#include "rooftile/op/op.h"

namespace rooftile {

using Assignments = std::vector<std::pair<std::string, std::string>>;

/// Removes the assignment of `name` and gives its value; nothing when there is none.
std::optional<std::string> take(Assignments& given, std::string_view name);

/// Fills problem.args from what is left of `given`; axes and options are bound already.
void bind_args(const OpDef& op, Problem& problem, Assignments& given);

/// Writes views[index] as assignments, as if a person had typed them; an output with the data
/// pointer of an input becomes its alias.
void add_view(const OpDef& op, std::span<const TensorView> views, std::size_t index,
              Assignments& assignments);

}  // namespace rooftile
