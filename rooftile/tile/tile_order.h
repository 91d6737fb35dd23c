// SPDX-License-Identifier: Apache-2.0
// In which order persistent blocks take the tiles of a matrix.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// Divides by a number that is known on the host, by a multiplication: a GPU has no instruction
/// that divides integers. Of 0 to 2^31 - 1; the divisor is 1 or more.
/// Source: T. Granlund and P. Montgomery, "Division by Invariant Integers using Multiplication",
/// 1994.
class Divisor {
 public:
  constexpr Divisor() = default;
  ROOFTILE_HD constexpr explicit Divisor(int divisor) {
    int bits = 0;
    while ((1LL << bits) < divisor) ++bits;
    shift_ = 31 + bits;
    factor_ = (1ULL << shift_) / static_cast<uint64_t>(divisor) + 1;
  }
  ROOFTILE_HD constexpr int quotient(int number) const {
    return static_cast<int>(static_cast<uint32_t>(number) * factor_ >> shift_);
  }

 private:
  uint64_t factor_ = (1ULL << 31) + 1;  // below 2^33
  int shift_ = 31;
};

/// Groups of rows of tiles, column by column: the blocks of a wave share rows of one operand and
/// columns of the other, so that both stay in L2.
class GroupedTiles {
 public:
  struct Tile {
    int row, column;
  };
  GroupedTiles() = default;
  /// `rows` and `columns` of tiles, `group` of their rows in a group.
  GroupedTiles(int rows, int columns, int group)
      : rows_(rows),
        columns_(columns),
        group_(group),
        of_group_(columns == 0 ? 1 : group * columns),
        of_height_(group),
        of_last_height_(rows % group == 0 ? group : rows % group) {}
  ROOFTILE_HD constexpr int count() const { return rows_ * columns_; }
  ROOFTILE_HD constexpr Tile at(int number) const {
    const int first = of_group_.quotient(number) * group_;
    const bool is_whole = rows_ - first >= group_;
    const int height = is_whole ? group_ : rows_ - first;
    const int within = number - first * columns_;
    const int column = (is_whole ? of_height_ : of_last_height_).quotient(within);
    return {first + within - column * height, column};
  }

 private:
  int rows_ = 0;
  int columns_ = 0;
  int group_ = 16;
  Divisor of_group_, of_height_, of_last_height_;
};

}  // namespace tile
}  // namespace rooftile
