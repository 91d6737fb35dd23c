// SPDX-License-Identifier: Apache-2.0
// The timeline in the trace event format, which chrome://tracing and ui.perfetto.dev open.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/workbench/timeline.h"

namespace ROOFTILE_API rooftile {

/// {"traceEvents": […]}: a track of passes, then a track for each host thread; times in us with
/// their fractions. Each operation has its problem, layer, pass, bytes, operations and rates as
/// args.
std::string chrome_trace(const ProfiledModel& model, const Timeline& timeline,
                         const std::string& device);

}  // namespace rooftile
