// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/roofline_text.h"

#include <gmock/gmock.h>

#include "rooftile/base/console.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Ceilings ceilings() {
  Ceilings limits;
  limits.read = {20e9, 0.01, "read"};
  limits.copy = {10e9, 0.01, "copy"};
  limits.triad = {12e9, 0.01, "triad"};
  limits.units[static_cast<std::size_t>(Unit::fp32)] = {100e9, 0.01, "fma"};
  return limits;
}

Record empty(const std::string& problem) {
  Record made;
  made.op = "toy";
  made.kernel = "toy/cpu_plain";
  made.problem = problem;
  return made;
}

Record record(const std::string& problem, double intensity, double tflops) {
  Record made = empty(problem);
  made.time_us = Quantiles{.median = 1, .p10 = 1, .p90 = 1, .n = 10};
  made.tflops = tflops;
  made.intensity = intensity;
  made.bound = "memory";
  made.percent_of_roof = 80;
  return made;
}

TEST(RooflineText, NothingToShow) {
  EXPECT_EQ(roofline_text({}, ceilings()), "");
  EXPECT_EQ(roofline_text({empty("toy n=1")}, ceilings()), "");
}

TEST(RooflineText, NamesRoofsAndRecords) {
  const std::string text =
      roofline_text({record("toy n=1", 0.5, 4e-3), record("toy n=2", 50, 90e-3)}, ceilings());
  for (const char* part : {"fp32 100 GFLOP/s", "read 20.0 GB/s, triad 12.0 GB/s, copy 10.0 GB/s",
                           "a  toy n=1  80.0 % of memory", "b  toy n=2", "FLOP/byte"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("not on the plot")));
}

TEST(RooflineText, CountsWhatHasNoPlace) {
  Record invalid = record("toy n=2", 1, 1e-3);
  invalid.status = Status::invalid;
  EXPECT_THAT(roofline_text({record("toy n=1", 1, 1e-3), empty("toy n=0"), invalid}, ceilings()),
              HasSubstr("not on the plot (no valid time, or no operations): 2"));
}

TEST(RooflineText, FitsTheWidth) {
  for (const int columns : {60, 80, 120}) {
    const std::string text =
        roofline_text({record("toy n=1", 0.5, 4e-3)}, ceilings(), {.columns = columns, .rows = 12});
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
  }
}

// Which row and column of the plot holds the letter.
std::pair<std::size_t, std::size_t> place_of(const std::string& text, char letter) {
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const std::size_t bar = lines[row].find("│");
    const std::size_t at = bar == std::string::npos ? bar : lines[row].find(letter, bar);
    if (at != std::string::npos) return {row, display_width(lines[row].substr(0, at))};
  }
  return {999, 999};
}

TEST(RooflineText, MoreIsHigherAndFurtherRight) {
  const std::string text = roofline_text(
      {record("toy n=1", 0.03, 2e-4), record("toy n=2", 3, 2e-2)}, ceilings(), {.rows = 24});
  const auto [row_a, column_a] = place_of(text, 'a');
  const auto [row_b, column_b] = place_of(text, 'b');
  EXPECT_GT(row_a, row_b) << text;
  EXPECT_LT(column_a, column_b) << text;
}

TEST(RooflineText, OneSpotHoldsAllItsRecords) {
  const std::vector<Record> same(3, record("toy n=1", 0.3, 2e-3));
  const std::string text = roofline_text(same, ceilings());
  EXPECT_THAT(text, HasSubstr("abc")) << text;
}

TEST(RooflineText, WithoutCeilingsThereAreOnlyLetters) {
  EXPECT_THAT(roofline_text({record("toy n=1", 1, 1e-3)}, Ceilings{}), HasSubstr("a  toy n=1"));
}

}  // namespace
}  // namespace rooftile
