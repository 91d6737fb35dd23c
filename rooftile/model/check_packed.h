// SPDX-License-Identifier: Apache-2.0
// Whether the kernels that read a model's packed weights see the values that its file means.
#pragma once

#include "rooftile/model/check.h"

namespace rooftile {

ModelCheck check_packed_values(const Model& model, Device& device, const Registry& registry);

}  // namespace rooftile
