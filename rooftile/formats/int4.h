// SPDX-License-Identifier: Apache-2.0
// Grouped int4 weights, as GPTQ (Frantar et al., 2022) and AWQ (Lin et al., 2023) store them:
// groups of consecutive values with one f32 scale and, if asymmetric, one zero point each.
//
//   codes        | element 1 | element 0 | ...          4 bits each, low first unless told
//   symmetric    value = code * scale                   code: two's complement, -7 to 7
//   asymmetric   value = (code - zero_point) * scale    code and zero point: unsigned, 0 to 15
#pragma once

#include <cstdint>
#include <span>

#include "rooftile/base/api.h"
#include "rooftile/formats/packing.h"

namespace ROOFTILE_API rooftile {

enum class Int4Kind : std::uint8_t { symmetric, asymmetric };

struct Int4Options {
  std::int64_t group = 128;  // elements; -1: one group; the last may be shorter
  Int4Kind kind = Int4Kind::symmetric;
  NibbleOrder order = NibbleOrder::low_first;
};

/// Quantises consecutive values. `codes` has a byte for each started pair; `scales`, and if
/// asymmetric `zero_points` (else empty), have one entry for each started group. Zero groups decode
/// to zeros; groups with NaN or infinity to NaN (see block.h). Throws Error(bad_input) for a wrong
/// length.
void quantise_int4(std::span<std::uint8_t> codes, std::span<float> scales,
                   std::span<std::uint8_t> zero_points, std::span<const float> values,
                   const Int4Options& options = {});

/// The values, rounded once. `group_index`, if not empty, names the group of each value instead of
/// its position (GPTQ's g_idx after reordering by activation). Throws Error(bad_input) for a wrong
/// length or a group that is not there.
void dequantise_int4(std::span<float> values, std::span<const std::uint8_t> codes,
                     std::span<const float> scales, std::span<const std::uint8_t> zero_points,
                     const Int4Options& options = {},
                     std::span<const std::int32_t> group_index = {});

/// How a file stores zero points: GPTQ v1 files hold one less than is meant.
enum class ZeroPointStorage : std::uint8_t { plain, minus_one };

/// The 4 bits that stand for `zero_point`. Throws Error(bad_input) for one that the storage cannot
/// say: plain holds 0 to 15, minus_one 1 to 16.
std::uint8_t stored_zero_point(int zero_point, ZeroPointStorage storage);

/// The zero point that 4 stored bits stand for.
int meant_zero_point(std::uint8_t stored, ZeroPointStorage storage);

}  // namespace rooftile
