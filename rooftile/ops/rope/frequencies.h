// SPDX-License-Identifier: Apache-2.0
// The frequencies of rope's pairs under each scaling, in double.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/core/problem.h"

namespace rooftile::ops::rope {

/// Elements of a head that are rotated.
std::int64_t rotary_of(const Problem& problem);

/// Radians that pair i advances with each position; rotary / 2 of them. freq_factors are data and
/// not applied here.
std::vector<double> frequencies(const Problem& problem);

/// What multiplies the rotated elements.
double attention_factor(const Problem& problem);

}  // namespace rooftile::ops::rope
