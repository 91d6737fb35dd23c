// SPDX-License-Identifier: Apache-2.0
// Between dense doubles and a tensor in host memory, whatever its dtype, strides and scales.
#pragma once

#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"

namespace ROOFTILE_API rooftile {

/// Reads every element of `view`, row-major, scales applied.
void load_view(const TensorView& view, std::vector<double>& values);

/// Writes every element of `view`, rounded to its dtype; nothing else in its memory changes. For a
/// scaled view the scales are chosen from the values (amax of each block) and written too, as are
/// those of GGUF blocks.
void store_view(const std::vector<double>& values, const TensorView& view);

}  // namespace rooftile
