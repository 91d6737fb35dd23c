// SPDX-License-Identifier: Apache-2.0
// Tiles: every element once, at its place in row-major order and in memory.
#include "rooftile/op/tiles.h"

#include <atomic>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_threads.h"

namespace rooftile {
namespace {

struct Layout {
  Dims shape;
  Dims strides;
  bool are_apart = true;
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> kLayouts{
      {{}, {}},
      {{0, 4}, {4, 1}},
      {{1, 1}, {9, 7}},
      {{300, 500}, {500, 1}},
      {{300, 500}, {512, 1}},
      {{300, 500}, {1, 300}},
      {{300, 500}, {1, 333}},
      {{300, 500}, {-500, 1}},
      {{100, 70}, {200, 2}},
      {{20000, 3}, {4, 1}},
      {{7, 130, 66}, {9000, 1, 131}},
      {{5, 6, 7, 8}, {1, 1000, 140, 10}},
      {{5, 33}, {0, 1}, false},
      {{5, 33}, {1, 1}, false},
      {{5, 33}, {33, 0}, false},
  };
  return kLayouts;
}

TEST(Tiles, HaveEveryElementOnce) {
  const TestThreads those(7);
  for (const Layout& layout : layouts())
    for (const std::int64_t unit : {1, 32}) {
      const Tiles tiles(layout.shape, layout.strides, unit);
      EXPECT_EQ(tiles.are_apart(), layout.are_apart) << to_string(layout.strides);
      std::vector<std::atomic<int>> times(static_cast<std::size_t>(num_elements(layout.shape)));
      tiles.for_each(true, [&](const Tile& tile) {
        for (std::int64_t r = 0; r < tile.runs; ++r)
          for (std::int64_t i = 0; i < tile.length; ++i) {
            std::int64_t index = tile.index + r * tiles.run_index_step + i * tiles.index_step;
            ++times.at(static_cast<std::size_t>(index));
            std::int64_t offset = 0;
            for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
              offset += index % layout.shape[axis] * layout.strides[axis];
              index /= layout.shape[axis];
            }
            ASSERT_EQ(tile.offset + r * tiles.run_stride + i * tiles.stride, offset);
          }
      });
      for (const auto& each : times) ASSERT_EQ(each, 1) << to_string(layout.strides);
    }
}

TEST(Tiles, AreLargeWhereMemoryIsDense) {
  EXPECT_LE(Tiles({64, 4096}, {4096, 1}).count(), 64);
  EXPECT_LE(Tiles({65536, 4}, {4, 1}).count(), 64);
  EXPECT_LE(Tiles({512, 512}, {1, 512}).count(), 64);
}

// Two runs that share a byte may not be written at the same time.
TEST(Tiles, TellWhetherRunsAreWholeUnits) {
  EXPECT_TRUE(Tiles({4, 6}, {6, 1}, 2).are_whole(2));
  EXPECT_TRUE(Tiles({4, 6}, {8, 1}, 2).are_whole(2));
  EXPECT_FALSE(Tiles({4, 6}, {7, 1}, 2).are_whole(2));
  EXPECT_FALSE(Tiles({4, 5}, {6, 1}, 2).are_whole(2));
  EXPECT_FALSE(Tiles({4, 6}, {12, 2}, 2).are_whole(2));
  EXPECT_FALSE(Tiles({3, 4, 6}, {49, 8, 1}, 2).are_whole(2));
  EXPECT_TRUE(Tiles({4, 5}, {7, 1}).are_whole(1));
}

}  // namespace
}  // namespace rooftile
