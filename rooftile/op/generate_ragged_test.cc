// SPDX-License-Identifier: Apache-2.0
// Ragged data: what it promises for ordinary kinds, and what it breaks on purpose for extreme.
#include "rooftile/op/generate_ragged.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "gtest/gtest.h"
#include "rooftile/base/rng.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/generate.h"

namespace rooftile {
namespace {

std::int64_t most_keys(const Problem& p) { return p.axis("max_pages") * p.axis("page_size"); }

const OpDef& ragged_op() {
  static const OpDef op = [] {
    OpDef def;
    def.name = "ragged";
    def.axes = {{"rows", ""},
                {"parts", ""},
                {.name = "offsets",
                 .help = "",
                 .default_from = [](const Problem& p) { return p.axis("parts") + 1; }},
                {"max_pages", ""},
                {"page_size", ""},
                {"pages", ""}};
    def.args = {
        out("y", {"rows"}),
        in("starts", {"offsets"}).types({DType::i32}).data(ragged_offsets("rows")),
        in("lengths", {"parts"}).types({DType::i32}).data(ragged_lengths("starts", most_keys)),
        in("table", {"parts", "max_pages"})
            .types({DType::i32})
            .data(page_table("lengths", "page_size", "pages"))};
    return def;
  }();
  return op;
}

Values data_of(const std::string& line) {
  const Problem problem = bind(ragged_op(), parse_problem_text("ragged " + line));
  Values values(problem);
  generate_inputs(ragged_op(), problem, values);
  return values;
}

TEST(GenerateRagged, OffsetsCutTheRows) {
  std::set<double> sizes;
  for (int seed = 0; seed < 20; ++seed) {
    const auto starts = data_of("rows=50 parts=7 max_pages=9 page_size=4 pages=63 seed=" +
                                std::to_string(seed))["starts"]
                            .values;
    ASSERT_EQ(starts.size(), 8U);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), 50);
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    for (std::size_t i = 1; i < starts.size(); ++i) sizes.insert(starts[i] - starts[i - 1]);
  }
  EXPECT_GT(sizes.size(), 15U) << "parts of many sizes";
  EXPECT_TRUE(sizes.contains(0)) << "empty parts too";
}

TEST(GenerateRagged, FewRowsGoToPartsOfTheirOwn) {
  EXPECT_EQ(data_of("rows=4 parts=4 max_pages=2 page_size=4 pages=8")["starts"].values,
            (std::vector<double>{0, 1, 2, 3, 4}));
  const auto starts = data_of("rows=2 parts=5 max_pages=2 page_size=4 pages=8")["starts"].values;
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_LE(starts[i] - starts[i - 1], 1);
  EXPECT_EQ(starts.back(), 2);
}

TEST(GenerateRagged, UniformIsEvenAndFull) {
  const Values values = data_of("rows=12 parts=3 max_pages=5 page_size=4 pages=15 data=uniform");
  EXPECT_EQ(values["starts"].values, (std::vector<double>{0, 4, 8, 12}));
  EXPECT_EQ(values["lengths"].values, std::vector<double>(3, 20));
  std::vector<double> ids = values["table"].values;
  EXPECT_FALSE(std::ranges::is_sorted(ids)) << "pages lie in any order";
  std::ranges::sort(ids);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<double>(i));
}

TEST(GenerateRagged, LengthsHoldTheRowsMostly) {
  int shorter = 0;
  int empty = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const Values values =
        data_of("rows=30 parts=6 max_pages=10 page_size=4 pages=60 seed=" + std::to_string(seed));
    for (std::int64_t s = 0; s < 6; ++s) {
      const double rows = values["starts"][s + 1] - values["starts"][s];
      shorter += values["lengths"][s] < rows ? 1 : 0;
      empty += values["lengths"][s] == 0 ? 1 : 0;
      EXPECT_GE(values["lengths"][s], 0);
      EXPECT_LE(values["lengths"][s], 40);
    }
  }
  EXPECT_GT(shorter, 0);
  EXPECT_LT(shorter, 30);
  EXPECT_GT(empty, 0);
}

TEST(GenerateRagged, TableNamesPagesWhereThereAreKeys) {
  const Values values = data_of("rows=9 parts=3 max_pages=6 page_size=4 pages=5 seed=2");
  std::multiset<double> used;
  for (std::int64_t s = 0; s < 3; ++s)
    for (std::int64_t p = 0; p < 6; ++p) {
      const double id = values["table"].at(s, p);
      const bool has_keys = static_cast<double>(4 * p) < values["lengths"][s];
      EXPECT_EQ(id >= 0, has_keys) << s << " " << p;
      EXPECT_LT(id, 5);
      if (has_keys) used.insert(id);
    }
  EXPECT_GT(used.size(), 5U) << "pages are shared when there are too few";
}

TEST(GenerateRagged, ExtremeBreaksEachKind) {
  bool has_bad_length = false;
  bool has_bad_page = false;
  for (int seed = 0; seed < 6; seed += 2) {
    const Values values =
        data_of("rows=40 parts=10 max_pages=6 page_size=4 pages=60 data=extreme seed=" +
                std::to_string(seed));
    EXPECT_TRUE(std::ranges::is_sorted(values["starts"].values));
    for (const double length : values["lengths"].values)
      has_bad_length |= length < 0 || length > 24;
    for (const double id : values["table"].values) has_bad_page |= id >= 60 || id < -1;
  }
  EXPECT_TRUE(has_bad_length);
  EXPECT_TRUE(has_bad_page);
  EXPECT_FALSE(std::ranges::is_sorted(
      data_of("rows=40 parts=10 max_pages=6 page_size=4 pages=60 data=extreme seed=1")["starts"]
          .values));
}

TEST(AxisDefault, FollowsFromEarlierAxesUnlessGiven) {
  const auto axis = [](const std::string& line) {
    return bind(ragged_op(),
                parse_problem_text("ragged max_pages=1 page_size=1 pages=1 rows=1 " + line))
        .axis("offsets");
  };
  EXPECT_EQ(axis("parts=4"), 5);
  EXPECT_EQ(axis("parts=4 offsets=9"), 9) << "what it may be is the operation's to refuse";
}

}  // namespace
}  // namespace rooftile
