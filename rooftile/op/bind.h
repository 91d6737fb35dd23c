// SPDX-License-Identifier: Apache-2.0
// From text, or from tensors, to a Problem of a known operation: defaults filled in, everything
// checked. All that is wrong with a user's problem is found here, before anything runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/problem.h"
#include "rooftile/op/op.h"

namespace ROOFTILE_API rooftile {

/// The problem that `text` names. Throws Error(bad_input) that names the first thing wrong with
/// near misses: unknown name, missing or impossible axis, dtype not allowed, option out of range,
/// strides that overlap an output or do not fit.
Problem bind(const OpDef& op, const ProblemText& text);

/// An option given by a typed call.
struct OptionValue {
  std::string_view name;
  std::string value;
};

/// The problem that tensors pose, `views` in the operation's order (absent ones without data). Axes
/// are read off the shapes, which must agree; strides and dtypes are the views' own.
Problem bind(const OpDef& op, std::span<const TensorView> views,
             std::span<const OptionValue> options);

/// Throws Error(bad_input) unless `view` is what the plan was made for.
void check_view(const ArgChoice& choice, const TensorView& view);

}  // namespace rooftile
