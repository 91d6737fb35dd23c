// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/console.h"

#include <gmock/gmock.h>

namespace rooftile {
namespace {

using ::testing::ElementsAre;

TEST(Console, WidthCountsCodePoints) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("± 3 █"), 5U);
}

TEST(Console, PaintsOnlyWhenAsked) {
  EXPECT_EQ(paint("x", Style::red, true), "\033[31mx\033[0m");
  EXPECT_EQ(paint("x", Style::red, false), "x");
  EXPECT_EQ(paint("", Style::red, true), "");
}

TEST(Console, Wraps) {
  EXPECT_THAT(wrap("one two  three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("extraordinary a", 5), ElementsAre("extraordinary", "a"));
  EXPECT_THAT(wrap("", 5), ElementsAre());
}

TEST(Columns, LineUp) {
  Columns columns({{"name"}, {"n", 3, true}}, 0, false, 2);
  columns.fit({{"longest"}});
  EXPECT_EQ(columns.header(), "  name       n\n");
  EXPECT_EQ(columns.row({{"a"}, {"7"}}), "  a          7\n");
  EXPECT_EQ(columns.row({{"±"}, {"12"}}, {"tail"}), "  ±         12  tail\n");
}

TEST(Columns, ATailThatDoesNotFitGoesBelow) {
  const Columns columns({{"name", 6}}, 20, false);
  EXPECT_EQ(columns.row({{"a"}}, {"short"}), "a       short\n");
  EXPECT_EQ(columns.row({{"a"}}, {"a command to be copied"}), "a\n    a command to be copied\n");
  EXPECT_EQ(columns.row({{"a"}}, {"a sentence to be broken"}, true),
            "a\n    a sentence to be\n    broken\n");
}

TEST(Columns, ABrokenTailStaysInItsColumnWhereThereIsRoom) {
  const Columns columns({{"name", 6}}, 44, false);
  EXPECT_EQ(columns.row({{"a"}}, {"these words are more than fit into one line here"}, true),
            "a       these words are more than fit into\n        one line here\n");
}

}  // namespace
}  // namespace rooftile
