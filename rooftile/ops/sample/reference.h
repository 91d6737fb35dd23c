// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rooftile/op/op.h"

namespace rooftile::ops::sample {

/// The definition of sample. Where top-p's cut or the draw lies within the rounding of f32
/// probabilities of a boundary, the ids on both sides are right (Array::also_right).
void meaning(const Problem& problem, Values& values);

}  // namespace rooftile::ops::sample
