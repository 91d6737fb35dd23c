// SPDX-License-Identifier: Apache-2.0
// The cases of sample and the data of its arguments.
#pragma once

#include <vector>

#include "rooftile/op/op.h"

namespace rooftile::ops::sample {

std::vector<Case> cases();

/// Normal logits three times as wide; uniform: few distinct values, so that ties are the rule;
/// extreme: rows of -infinity alone, with a NaN or +infinity, masked but for a few, of huge
/// numbers.
Generator logits_data();

/// Values of a list by chance, of `faulty` too where the data is extreme.
Generator one_of(std::vector<double> valid, std::vector<double> faulty);

/// Ids, a few of them outside [0, cols), which stand for none.
Generator history_data();

/// Whole numbers up to 2^40, a few of them negative.
Generator numbers_data();

}  // namespace rooftile::ops::sample
