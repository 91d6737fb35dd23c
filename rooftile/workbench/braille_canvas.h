// SPDX-License-Identifier: Apache-2.0
// A drawing area of characters: lines are braille dots, eight to a character; letters lie over
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/base/console.h"

namespace rooftile {

class BrailleCanvas {
 public:
  BrailleCanvas(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        dots_(static_cast<std::size_t>(columns * rows), 0),
        texts_(dots_.size()) {}

  [[nodiscard]] int dots_across() const { return columns_ * kDotsAcross; }

  // x and y in [0, 1] from the lower left; what lies outside is left out.
  void dot(double x, double y) {
    const int column = static_cast<int>(std::lround(x * (columns_ * kDotsAcross - 1)));
    const int row = static_cast<int>(std::lround((1 - y) * (rows_ * kDotsDown - 1)));
    if (column < 0 || column >= columns_ * kDotsAcross || row < 0 || row >= rows_ * kDotsDown)
      return;
    // The bits of U+2800, left column from the top then right column, the lowest row apart.
    static constexpr std::array<std::array<std::uint8_t, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    dots_[index(column / kDotsAcross, row / kDotsDown)] |=
        kBits.at(static_cast<std::size_t>(row % kDotsDown))
            .at(static_cast<std::size_t>(column % kDotsAcross));
  }

  // A letter, moved aside (right, then down) when another stands there.
  void letter(double x, double y, char what) {
    int column = std::clamp(static_cast<int>(x * columns_), 0, columns_ - 1);
    int row = std::clamp(static_cast<int>((1 - y) * rows_), 0, rows_ - 1);
    for (int tries = 0; tries < columns_ && texts_[index(column, row)] != 0; ++tries) {
      if (++column < columns_) continue;
      column = 0;
      row = std::min(row + 1, rows_ - 1);
    }
    texts_[index(column, row)] = what;
  }

  [[nodiscard]] int row_of(double y) const {
    return std::clamp(static_cast<int>((1 - y) * rows_), 0, rows_ - 1);
  }

  [[nodiscard]] std::string row_text(int row, bool has_colour) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const std::size_t at = index(column, row);
      if (texts_[at] != 0) {
        text += paint(std::string(1, texts_[at]), Style::yellow, has_colour);
      } else if (dots_[at] != 0) {
        text += {'\xe2', static_cast<char>(0xa0 | (dots_[at] >> 6)),
                 static_cast<char>(0x80 | (dots_[at] & 0x3f))};
      } else {
        text += ' ';
      }
    }
    return text;
  }

 private:
  static constexpr int kDotsAcross = 2;
  static constexpr int kDotsDown = 4;

  [[nodiscard]] std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }
  int columns_;
  int rows_;
  std::vector<std::uint8_t> dots_;
  std::vector<char> texts_;
};

}  // namespace rooftile
