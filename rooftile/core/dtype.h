// SPDX-License-Identifier: Apache-2.0
// Element types as they stand in memory. How their bits decode is formats/; here are their names
// and sizes. A type may pack several elements into a unit of whole bytes: two e2m1 to a byte, four
// e3m2 to three bytes, 32 or 256 GGUF elements with their scales to one block.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/shape.h"

namespace ROOFTILE_API rooftile {

enum class DType : std::uint8_t {
  f64,
  f32,
  fp16,
  bf16,
  e4m3,      // OCP FP8 E4M3 ("fn": no infinity, one NaN)
  e5m2,      // OCP FP8 E5M2 (IEEE-like)
  e4m3fnuz,  // one NaN, no negative zero, bias 8
  e5m2fnuz,  // one NaN, no negative zero, bias 16
  e3m2,      // OCP FP6
  e2m3,      // OCP FP6
  e2m1,      // OCP FP4
  e8m0,      // OCP block scale: a power of two
  i64,
  i32,
  i16,
  i8,
  u8,
  i4,
  u4,
  q4_0,  // GGUF blocks: the elements and their scales stand together, see formats/gguf_blocks.h
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
};

/// What an element type is used for when its values are compared or generated.
enum class DTypeKind : std::uint8_t {
  floating,
  integer,
  scale,
  block,  // elements have no rounding of their own: only whole blocks are written
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  DTypeKind kind;
  int unit_elements;  // elements in the smallest addressable unit
  int unit_bytes;     // bytes of that unit
  int mantissa_bits;  // stored, without the hidden one; 0 for integers and blocks
  int min_exponent;   // of the smallest normal number, as in 1.0 * 2^min_exponent; a block's scale
  double max_finite;  // of a block: what all of its elements may be at once, of either sign

  [[nodiscard]] bool is_packed() const { return unit_elements > 1; }
  [[nodiscard]] bool is_block() const { return kind == DTypeKind::block; }
};

/// Every type, in the order of the enum.
std::span<const DTypeInfo> dtypes();

const DTypeInfo& info(DType dtype);

inline std::string_view name(DType dtype) { return info(dtype).name; }

/// The type with this name (also f16 and float names as numpy and ml_dtypes write them).
/// Throws Error(bad_input) with near misses.
DType parse_dtype(std::string_view text);

/// Bytes of `elements` consecutive elements, a last partial unit counted whole.
/// Throws Error(bad_input) when that does not fit in 63 bits, and for a part of a block.
std::int64_t bytes_of(DType dtype, std::int64_t elements);

/// The axis along which the elements of blocks lie: the last of stride 1 with more than one
/// element, else the last. (A weight [n, k] seen as [k, n] has its blocks along the first.)
int block_axis(const Dims& shape, const Dims& strides);

/// Throws Error(bad_input) that names `what` unless a tensor consists of whole blocks: the extent
/// of block_axis a multiple of the block with stride 1, the other strides multiples of it. Types
/// that are no blocks and empty tensors always pass.
void check_whole_blocks(std::string_view what, DType dtype, const Dims& shape, const Dims& strides);

}  // namespace rooftile
