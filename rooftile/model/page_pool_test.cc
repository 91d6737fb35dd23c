// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/page_pool.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<std::int32_t>;

TEST(PagePool, GivesEachPageOnceAndSaysWhenItIsFull) {
  PagePool pool(3, 4);
  EXPECT_THAT((Tokens{pool.take(), pool.take(), pool.take()}), ElementsAre(0, 1, 2));
  EXPECT_THROW(pool.take(), Error);
  pool.give_back(1);
  EXPECT_EQ(pool.num_held(), 2);
  EXPECT_EQ(pool.take(), 1);
  pool.give_back(1);
  EXPECT_THROW(pool.give_back(1), Error);
}

TEST(PagePool, SharesWholePagesOfACommonHead) {
  PagePool pool(8, 2);
  const Tokens first{1, 2, 3, 4, 5};
  const Tokens pages{pool.take(), pool.take(), pool.take()};
  pool.publish(pages, first);
  EXPECT_THAT(pool.take_head(Tokens{1, 2, 3, 4, 9, 9}), ElementsAre(pages[0], pages[1]));
  EXPECT_THAT(pool.take_head(Tokens{1, 2, 7, 4}), ElementsAre(pages[0]));
  // The same page behind another head is another page; a half-filled one is none.
  EXPECT_THAT(pool.take_head(Tokens{3, 4}), IsEmpty());
  EXPECT_THAT(pool.take_head(Tokens{1}), IsEmpty());
  EXPECT_EQ(pool.num_held(), 3);
}

TEST(PagePool, KeepsWhatNobodyHoldsUntilThePageIsNeeded) {
  PagePool pool(2, 1);
  const Tokens pages{pool.take(), pool.take()};
  pool.publish(pages, Tokens{5, 6});
  pool.give_back(pages[1]);
  pool.give_back(pages[0]);
  EXPECT_EQ(pool.num_held(), 0);
  EXPECT_THAT(pool.take_head(Tokens{5}), ElementsAre(pages[0]));
  EXPECT_EQ(pool.take(), pages[1]);  // its contents are forgotten now
  pool.give_back(pages[1]);
  EXPECT_THAT(pool.take_head(Tokens{5, 6}), ElementsAre(pages[0]));
}

TEST(PagePool, ComputedTwiceIsFoundOnce) {
  PagePool pool(4, 1);
  const Tokens first{pool.take(), pool.take()};
  const Tokens second{pool.take(), pool.take()};
  pool.publish(first, Tokens{1, 2});
  pool.publish(second, Tokens{1, 3});  // its first page is the same, its second hangs behind that
  EXPECT_THAT(pool.take_head(Tokens{1, 3}), ElementsAre(first[0], second[1]));
}

TEST(PagePool, RefusesSlotsBeyondI32) {
  EXPECT_THROW(PagePool(1 << 27, 16), Error);
  EXPECT_THROW(PagePool(0, 16), Error);
  EXPECT_THROW(PagePool(16, 0), Error);
}

}  // namespace
}  // namespace rooftile
