// SPDX-License-Identifier: Apache-2.0
// NVFP4, NVIDIA's FP4 for Blackwell (cuBLAS "block scaling", Transformer Engine): 16 consecutive
// e2m1 elements share one e4m3 scale, and the whole tensor one f32 scale; value = element * block *
// tensor.
//
//   codes         | element 1 | element 0 | element 3 | element 2 | ...      4 bits each, low first
//   block_scales  | e4m3 of elements 0-15 | e4m3 of elements 16-31 | ...     1 byte each
//   tensor_scale  | f32 |                 = amax of the tensor / (448 * 6)
#pragma once

#include <cstdint>
#include <span>

#include "rooftile/base/api.h"
#include "rooftile/formats/fp8.h"

namespace ROOFTILE_API rooftile {

inline constexpr std::int64_t kNvfp4Block = 16;  // elements

/// The second-level scale that lets the greatest block scale be e4m3's maximum. Over the finite
/// values; 1 when they are all zero. Never less than the least normal float, so that it keeps its
/// precision.
float nvfp4_tensor_scale(std::span<const float> values);

/// Quantises consecutive values. `codes` has a byte for each started pair, `block_scales` one scale
/// for each started block: amax / 6 / tensor_scale in e4m3, nearest even, saturating. A block too
/// small for any e4m3 scale decodes to zeros; a block with NaN or infinity to NaN (see block.h).
/// Throws Error(bad_input) for a wrong length or a tensor_scale that is not positive and finite.
void quantise_nvfp4(std::span<std::uint8_t> codes, std::span<e4m3> block_scales,
                    std::span<const float> values, float tensor_scale);

/// The values, the product of the three rounded once.
void dequantise_nvfp4(std::span<float> values, std::span<const std::uint8_t> codes,
                      std::span<const e4m3> block_scales, float tensor_scale);

}  // namespace rooftile
