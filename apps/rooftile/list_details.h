// SPDX-License-Identifier: Apache-2.0
// One operation's declaration in full, as `rooftile list ops OP` shows it.
#pragma once

#include "apps/rooftile/cli.h"

namespace rooftile::cli {

void print_details(Session& session, const OpDef& op);

}  // namespace rooftile::cli
