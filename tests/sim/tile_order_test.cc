// SPDX-License-Identifier: Apache-2.0
#include "rooftile/tile/tile_order.h"

#include <gtest/gtest.h>

#include <climits>
#include <set>
#include <tuple>
#include <utility>

namespace rooftile::tile {
namespace {

TEST(Divisor, DividesAllThatAnIntHolds) {
  for (const int divisor : {1, 2, 3, 5, 7, 16, 33, 127, 128, 132, 641, 65535, 65537, 1 << 20,
                            715827883, INT_MAX - 1, INT_MAX})
    for (const int number : {0, 1, 2, 15, 16, 17, 131, 132, 65535, 65536, 1 << 30, INT_MAX - 1,
                             INT_MAX, divisor - 1, divisor, divisor / 2 * 2})
      EXPECT_EQ(Divisor(divisor).quotient(number), number / divisor) << number << " / " << divisor;
}

TEST(GroupedTiles, TakeEachTileOnceAndAGroupsRowsTogether) {
  for (const auto& [rows, columns, group] :
       {std::tuple{1, 1, 16}, {3, 5, 16}, {16, 4, 16}, {37, 3, 8}, {33, 7, 16}, {5, 40, 1}}) {
    const GroupedTiles order(rows, columns, group);
    ASSERT_EQ(order.count(), rows * columns);
    std::set<std::pair<int, int> > seen;
    int last_group = 0;
    int last_column = 0;
    for (int number = 0; number < order.count(); ++number) {
      const GroupedTiles::Tile tile = order.at(number);
      EXPECT_TRUE(tile.row >= 0 && tile.row < rows && tile.column >= 0 && tile.column < columns);
      EXPECT_TRUE(seen.insert({tile.row, tile.column}).second) << number;
      EXPECT_GE(tile.row / group, last_group) << number;
      if (tile.row / group != last_group) last_column = 0;
      EXPECT_GE(tile.column, last_column) << number;
      last_group = tile.row / group;
      last_column = tile.column;
    }
  }
}

TEST(GroupedTiles, OfNothingAreNone) {
  EXPECT_EQ(GroupedTiles(0, 5, 16).count(), 0);
  EXPECT_EQ(GroupedTiles(5, 0, 16).count(), 0);
}

}  // namespace
}  // namespace rooftile::tile
