// SPDX-License-Identifier: Apache-2.0
// What the operations on two matrices, element by element, share: the declaration and the kernels,
// but for the name and the function.
#pragma once

#include <string>

#include "rooftile/op/kernel.h"
#include "rooftile/op/op.h"

namespace rooftile::ops {

enum class BinaryFn : std::uint8_t { add, mul };

struct BinaryText {
  std::string name;
  std::string summary;
  std::string formula;
};

/// y[rows, cols] = fn(a[rows, cols], b[rows, cols]), computed in f32 and rounded once to y's dtype.
/// y may be a or b; a stride of 0 repeats a row or an element.
OpDef binary_def(BinaryFn fn, const BinaryText& text);

/// The formula as loops, any strides.
KernelDef binary_plain(BinaryFn fn, const std::string& op);

/// In blocks of f32 over vectors; elements of a row adjacent.
KernelDef binary_simd(BinaryFn fn, const std::string& op);

/// On a GPU, eight elements at a time, any types and strides.
KernelDef binary_sm90(BinaryFn fn, const std::string& op);

}  // namespace rooftile::ops
