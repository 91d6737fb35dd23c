// SPDX-License-Identifier: Apache-2.0
// What all block formats share: runs of consecutive values with one scale. The last run of a row
// may be shorter and has its own scale; nothing past the end is read.
//
// One rule for values that are no numbers, in every format here: a block that holds a NaN or an
// infinity gets a NaN scale, so all of it decodes to NaN. Why: most element types cannot say NaN,
// and an infinity that quietly became the maximum would look like data.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "rooftile/base/api.h"
#include "rooftile/base/error.h"

namespace ROOFTILE_API rooftile {

/// Blocks of `size` elements that cover `n`. `size` -1 means one block (none for n = 0).
/// Throws Error(bad_input) when `size` is 0 or below -1.
inline std::int64_t num_blocks(std::int64_t n, std::int64_t size) {
  if (size < -1 || size == 0)
    fail_input("a block has 1 element or more, or -1 for all, not " + std::to_string(size));
  if (size == -1 || size > n) return n > 0 ? 1 : 0;
  return n / size + (n % size != 0 ? 1 : 0);
}

/// The elements of block `block` of `values`; `size` as in num_blocks.
template <class T>
std::span<T> block_of(std::span<T> values, std::int64_t block, std::int64_t size) {
  if (size == -1) return values;
  const auto n = static_cast<std::int64_t>(values.size());
  const std::int64_t begin = block * size;
  const std::int64_t count = size < n - begin ? size : n - begin;
  return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

/// The greatest magnitude, 0 for none; NaN if any value is NaN or infinite.
inline float finite_amax(std::span<const float> values) {
  float amax = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<float>::quiet_NaN();
    amax = std::fmax(amax, std::fabs(value));
  }
  return amax;
}

/// Throws Error(bad_input) unless a buffer has as many entries as its format needs.
inline void check_count(const char* what, std::size_t given, std::int64_t needed) {
  if (static_cast<std::int64_t>(given) != needed)
    fail_input(std::string(what) + ": " + std::to_string(given) + " given, " +
               std::to_string(needed) + " needed");
}

}  // namespace rooftile
