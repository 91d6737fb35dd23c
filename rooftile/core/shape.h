// SPDX-License-Identifier: Apache-2.0
// Extents and strides: short lists of 64-bit integers in place, with checked arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/base/error.h"

namespace ROOFTILE_API rooftile {

inline constexpr int kMaxRank = 8;

/// Up to kMaxRank integers, one a dimension, outermost first. Used for extents and for strides.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }

  void push_back(std::int64_t value) {
    if (rank_ == kMaxRank) fail_input("a tensor has at most 8 dimensions");
    values_[static_cast<std::size_t>(rank_++)] = value;
  }

  [[nodiscard]] int rank() const { return rank_; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const std::int64_t* begin() const { return values_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return values_.data() + rank_; }
  friend bool operator==(const Dims& a, const Dims& b) { return std::ranges::equal(a, b); }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

/// The product; throws Error(bad_input) that names `what` when a factor is negative or the product
/// does not fit in 63 bits.
std::int64_t checked_product(std::span<const std::int64_t> factors, std::string_view what);
std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::string_view what);

/// Number of elements; 1 for rank 0.
std::int64_t num_elements(const Dims& shape);

/// Row-major strides in elements: the last dimension has stride 1.
Dims row_major(const Dims& shape);

/// Whether elements lie in row-major order without gaps. Dimensions of extent 1 may have any
/// stride, and an empty tensor is contiguous.
bool is_contiguous(const Dims& shape, const Dims& strides);

/// The least and greatest offset, in elements, of any element; {0, -1} for an empty tensor.
/// Throws Error(bad_input) when one does not fit in 63 bits.
struct OffsetRange {
  std::int64_t least = 0;
  std::int64_t greatest = -1;
};
OffsetRange offset_range(const Dims& shape, const Dims& strides);

/// "[2,3]"
std::string to_string(const Dims& dims);

}  // namespace rooftile
