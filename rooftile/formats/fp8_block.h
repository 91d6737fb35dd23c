// SPDX-License-Identifier: Apache-2.0
// FP8 matrices with one f32 scale for each tile of 1x128 (activations) or 128x128 (weights), as
// DeepSeek-V3 (section 3.3.2) introduced and DeepGEMM computes; value = element * scale.
//
//   codes    row-major [rows][cols], 1 byte each
//   scales   row-major [ceil(rows / block_rows)][ceil(cols / block_cols)], f32
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"

namespace ROOFTILE_API rooftile {

struct Fp8BlockOptions {
  DType element = DType::e4m3;  // any FP8 type
  std::int64_t block_rows = 1;
  std::int64_t block_cols = 128;
  /// Why the least normal float: a kernel may multiply by 1 / scale, which must stay finite.
  float least_scale = std::numeric_limits<float>::min();  // DeepGEMM itself: 1e-4 / 448
  bool power_of_two_scale = false;  // the scale rounded up to a power of two, for E8M0 hardware
};

/// Quantises a row-major matrix; elements round to nearest even and saturate. The scale is amax /
/// the element's maximum, rounded to f32, and least_scale or more. Tiles with NaN or infinity
/// decode to NaN (see block.h). Throws Error(bad_input) for a type that is not FP8 or a wrong
/// length.
void quantise_fp8_block(std::span<std::uint8_t> codes, std::span<float> scales,
                        std::span<const float> values, std::int64_t rows, std::int64_t cols,
                        const Fp8BlockOptions& options = {});

/// The values, the product rounded once.
void dequantise_fp8_block(std::span<float> values, std::span<const std::uint8_t> codes,
                          std::span<const float> scales, std::int64_t rows, std::int64_t cols,
                          const Fp8BlockOptions& options = {});

}  // namespace rooftile
