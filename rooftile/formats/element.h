// SPDX-License-Identifier: Apache-2.0
// Elements of any DType read and written as doubles, on the host: what references, generators and
// comparisons of data are made of. Sub-byte types are packed as packing.h says, low nibble first.
// Elements of GGUF blocks are read one by one too, but written only by `narrow`, in whole blocks.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/formats/rounding.h"

namespace ROOFTILE_API rooftile {

/// What a value out of range becomes unless the caller says: infinity in f32, fp16 and bf16 (IEEE
/// 754), the greatest finite number in the narrower types and in integers.
Overflow default_overflow(DType dtype);

/// Element `index` of the packed elements at `data`. i64 beyond 2^53 rounds to the nearest double.
double load_element(DType dtype, const void* data, std::int64_t index);

/// Rounds `value` once, to nearest with ties to even, and writes element `index`; its neighbours
/// within a byte stay. Integers saturate and take NaN as 0; e3m2, e2m3 and e2m1 take it as
/// +maximum. Throws Error(unsupported) for block types.
void store_element(DType dtype, void* data, std::int64_t index, double value);

/// As above with the overflow named. Throws Error(unsupported) for to_special in a type that has
/// neither infinity nor NaN.
void store_element(DType dtype, void* data, std::int64_t index, double value, Overflow overflow);

/// load_element for elements 0 to n-1, with the type looked up once.
void widen(DType dtype, const void* data, std::int64_t n, double* values);

/// store_element for elements 0 to n-1, with the type looked up once. A last partial unit keeps the
/// bits that belong to no element. Block types are quantised from the values rounded to float;
/// throws Error(bad_input) when n is no multiple of their block.
void narrow(DType dtype, const double* values, std::int64_t n, void* data);

/// The number of this type that store_element writes for `value`.
double round_to(DType dtype, double value);

/// The distance between neighbours of this type in the binade of |value|: subnormal spacing at the
/// bottom (and for 0), that of the top binade above the maximum, 1 for integers, NaN for NaN.
/// Throws Error(unsupported) for block types.
double ulp_of(DType dtype, double value);

}  // namespace rooftile
