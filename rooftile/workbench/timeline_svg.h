// SPDX-License-Identifier: Apache-2.0
// One pass as a drawing: a band a layer, a lane a thread, a box an operation.
#pragma once

#include <string>

#include "rooftile/workbench/html.h"
#include "rooftile/workbench/profile.h"

namespace rooftile {

/// A figure with the tools that zoom it. Positions are percentages of the pass, so that a wider
/// drawing is a closer look. Passes with very many operations are drawn up to a limit, which is
/// said.
std::string timeline_figure(const ProfilePhase& phase, const OperationColours& colours);

}  // namespace rooftile
