// SPDX-License-Identifier: Apache-2.0
// In which order persistent blocks take the tiles of a matrix.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/formats/host_device.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// Groups of rows of tiles, column by column: the blocks of a wave share rows of one operand and
/// columns of the other, so that both stay in L2.
struct GroupedTiles {
  int rows = 0;     // of tiles
  int columns = 0;  // of tiles
  int group = 16;   // rows of tiles in a group

  struct Tile {
    int row, column;
  };
  ROOFTILE_HD constexpr int count() const { return rows * columns; }
  ROOFTILE_HD constexpr Tile at(int number) const {
    const int first = number / (group * columns) * group;
    const int height = rows - first < group ? rows - first : group;
    const int within = number - first * columns;
    return {first + within % height, within / height};
  }
};

}  // namespace tile
}  // namespace rooftile
