// SPDX-License-Identifier: Apache-2.0
// MXFP8, MXFP6 and MXFP4: OCP Microscaling Formats v1.0. 32 consecutive elements share one E8M0
// scale; value = element * scale. Elements are e4m3, e5m2, e3m2, e2m3 or e2m1, packed as packing.h
// says.
//
//   codes   | element 0 | element 1 | ... | element 31 | element 32 ...
//   scales  | scale of elements 0-31                   | scale of 32-63 ...
#pragma once

#include <cstdint>
#include <span>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/formats/e8m0.h"

namespace ROOFTILE_API rooftile {

inline constexpr std::int64_t kMxBlock = 32;  // elements

/// Quantises consecutive values: a row, or a matrix whose rows are whole blocks. `codes` has
/// bytes_of(element, n) bytes, `scales` one for each started block. Elements round to nearest even
/// and saturate. Zero blocks decode to zeros; blocks with NaN or infinity to NaN (see block.h).
/// Throws Error(bad_input) for another element type or a wrong length.
void quantise_mx(std::span<std::uint8_t> codes, std::span<e8m0> scales,
                 std::span<const float> values, DType element,
                 ScaleRounding rounding = ScaleRounding::floor);

/// The values; exact unless beyond a float's range (then infinity, or rounded to a subnormal).
void dequantise_mx(std::span<float> values, std::span<const std::uint8_t> codes,
                   std::span<const e8m0> scales, DType element);

}  // namespace rooftile
