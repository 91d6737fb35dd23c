// SPDX-License-Identifier: Apache-2.0
// The tables of the page.
#pragma once

#include <string>

#include "rooftile/workbench/html.h"
#include "rooftile/workbench/profile.h"

namespace rooftile {

/// A section for the phase: its figures, a table of kernels and one of roles.
std::string phase_section(const ProfilePhase& phase, const OperationColours& colours);
std::string fusion_table(const Profile& profile);
std::string layout_list(const Profile& profile);

}  // namespace rooftile
