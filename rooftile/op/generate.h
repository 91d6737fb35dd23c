// SPDX-License-Identifier: Apache-2.0
// Input data for a problem: by the argument's own generator where random numbers are not valid
// data, else by the problem's data kind. The same problem line gives the same data everywhere.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/op/op.h"

namespace ROOFTILE_API rooftile {

/// Fills the inputs of `values` in declaration order, each value one that the argument's dtype
/// holds (block-scaled arguments are left unrounded; storing them rounds).
///   randn    standard normal
///   uniform  [-1, 1)
///   extreme  magnitudes from the smallest subnormal to the operation's limit, log-uniform, both
///            signs, with zeros between
///   zeros    zeros
void generate_inputs(const OpDef& op, const Problem& problem, Values& values);

}  // namespace rooftile
