// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "rooftile/op/op.h"

namespace rooftile::ops::rope {

std::vector<Case> cases();

}  // namespace rooftile::ops::rope
