// SPDX-License-Identifier: Apache-2.0
// The steepness of a gate's activation, for kernels.
#pragma once

#include "rooftile/core/problem.h"

namespace rooftile::ops::glu {

/// alpha, or 1 for an activation that has no steepness: act(alpha g) / alpha is act(g), and the
/// product cannot overflow.
inline double alpha_of(const Problem& problem) {
  const std::string_view act = problem.option("act");
  return act == "none" || act == "relu" ? 1 : problem.number("alpha");
}

}  // namespace rooftile::ops::glu
