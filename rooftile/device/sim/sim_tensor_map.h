// SPDX-License-Identifier: Apache-2.0
// The simulator's tensor map: the same 128 bytes as the GPU's, in a format of its own, with a
// checksum by which a kernel that passes something else is found out.
#pragma once

#include <optional>

#include "rooftile/device/tensor_map.h"

namespace rooftile::sim {

/// `spec` must be a valid one (check_tensor_map).
TensorMap encode_tensor_map(const TensorMapSpec& spec);

/// Nothing for bytes that encode_tensor_map() did not make.
std::optional<TensorMapSpec> decode_tensor_map(const TensorMap& map);

}  // namespace rooftile::sim
