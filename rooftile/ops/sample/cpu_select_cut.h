// SPDX-License-Identifier: Apache-2.0
// Where the k largest of a row end, or those that hold a given mass, without sorting it.
#pragma once

#include <cstdint>
#include <span>

namespace rooftile::ops::sample {

/// The tokens above `logit` are kept, and the first `ties` of those equal to it.
struct Cut {
  float logit = 0;
  std::int64_t ties = 0;
  std::int64_t equal = 0;  // tokens equal to it
  double mass = 0;         // of all that is kept
};

/// Keeps the largest logits, of equal ones those with the lowest ids, up to and with the token at
/// which their number reaches `most` or their mass `limit`: one at least, all where neither is
/// reached. weights[i] belongs to logits[i], which are numbers; equal logits have equal weights.
Cut select(std::span<const float> logits, std::span<const float> weights, std::int64_t most,
           double limit);

}  // namespace rooftile::ops::sample
