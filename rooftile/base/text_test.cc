// SPDX-License-Identifier: Apache-2.0
// Splitting and joining, numbers that must be whole, and figures for people.
#include "rooftile/base/text.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Split, KeepsEmptyPieces) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split("a,", ','), ElementsAre("a", ""));
  EXPECT_THAT(split(",a", ','), ElementsAre("", "a"));
}

TEST(SplitWords, NeverGivesEmptyPieces) {
  EXPECT_THAT(split_words(" \ta  b\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("a"), ElementsAre("a"));
  EXPECT_TRUE(split_words("").empty());
  EXPECT_TRUE(split_words(" \t ").empty());
}

TEST(Join, IsTheInverseOfSplit) {
  for (const char* text : {"", "a", "a,b", ",a", "a,", ",,", "a,,b"})
    EXPECT_EQ(join(split(text, ','), ","), text);
  EXPECT_EQ(join({"a", "b"}, " or ", "'"), "'a' or 'b'");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Replaced, TakesEachOnceFromTheLeft) {
  EXPECT_EQ(replaced("aaa-aa", "aa", "b"), "ba-b");
  EXPECT_EQ(replaced("abc", "c", "cc"), "abcc");
  EXPECT_EQ(replaced("abab", "ab", ""), "");
  EXPECT_EQ(replaced("", "a", "b"), "");
}

TEST(ParseInt, TakesSuffixes) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-17"), -17);
  EXPECT_EQ(parse_int("4k"), 4000);
  EXPECT_EQ(parse_int("4ki"), 4096);
  EXPECT_EQ(parse_int("-2Mi"), -2097152);
  EXPECT_EQ(parse_int("3M"), 3000000);
  EXPECT_EQ(parse_int("1G"), 1000000000);
  EXPECT_EQ(parse_int("1Gi"), 1073741824);
}

TEST(ParseInt, RefusesWhatIsNotAWholeNumber) {
  for (const char* text : {"", " ", "k", "Gi", "-", "+5", " 5", "5 ", "5.0", "1e3", "0x10", "5K",
                           "5kk", "5 k", "five", "5i", "--5", "nan", "inf"})
    EXPECT_EQ(parse_int(text), std::nullopt) << '\'' << text << '\'';
}

TEST(ParseInt, RefusesOverflow) {
  EXPECT_EQ(parse_int("9223372036854775807"), kMost);
  EXPECT_EQ(parse_int("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_int("-9223372036854775808"), kLeast);
  EXPECT_EQ(parse_int("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(parse_int("8589934591Gi"), 9223372035781033984);
  EXPECT_EQ(parse_int("8589934592Gi"), std::nullopt);
  EXPECT_EQ(parse_int("9223372036854776k"), std::nullopt);
  EXPECT_EQ(parse_int(std::string(400, '9')), std::nullopt);
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("1e-6"), 1e-6);
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("inf"), HUGE_VAL);
  for (const char* text : {"", "nan", "-nan", "1e", "1 ", " 1", "1,5", "0x", "1e999", "one"})
    EXPECT_EQ(parse_number(text), std::nullopt) << '\'' << text << '\'';
}

TEST(Shortest, ReadsBackAsTheSameDouble) {
  EXPECT_EQ(shortest(1e-6), "1e-06");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(-std::nan("")), "nan") << "no sign";
  for (const double value : {1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2.0 / 7e200}) {
    const auto again = parse_number(shortest(value));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, value);
    EXPECT_EQ(std::signbit(*again), std::signbit(value));
  }
}

TEST(Figures, HaveNoExponentInTheMiddle) {
  EXPECT_EQ(figures(0), "0");
  EXPECT_EQ(figures(1.23456), "1.23");
  EXPECT_EQ(figures(-12.3456), "-12.3");
  EXPECT_EQ(figures(123.456), "123");
  EXPECT_EQ(figures(0.00123456), "0.00123");
  EXPECT_EQ(figures(999999), "999999");
  EXPECT_EQ(figures(1234567), "1.23e+06");
  EXPECT_EQ(figures(0.000123456), "0.000123");
  EXPECT_EQ(figures(1.23456e-7), "1.23e-07");
  EXPECT_EQ(figures(1.23456, 5), "1.2346");
  EXPECT_EQ(figures(HUGE_VAL), "inf");
  EXPECT_EQ(figures(-std::nan("")), "nan");
}

TEST(Figures, OfBytesAndTimesCarryAUnit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(64 << 20), "64.0 MiB");
  EXPECT_EQ(bytes_text(1.5 * 1024), "1.50 KiB");
  EXPECT_EQ(bytes_text(std::ldexp(1.0, 60)), "1.05e+06 TiB");
  EXPECT_EQ(time_text(0.5), "500 ns");
  EXPECT_EQ(time_text(3.21), "3.21 us");
  EXPECT_EQ(time_text(1200), "1.20 ms");
  EXPECT_EQ(time_text(2.5e6), "2.50 s");
}

// The shell itself must read the word back.
std::string through_shell(const std::string& quoted) {
  std::FILE* shell = popen(("printf %s " + quoted).c_str(), "r");
  std::string text;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) text += static_cast<char>(c);
  pclose(shell);
  return text;
}

TEST(ShellQuote, LeavesPlainWordsAlone) {
  EXPECT_EQ(shell_quote("x.stride=64,1"), "x.stride=64,1");
  EXPECT_EQ(shell_quote("gemm/cpu_simd"), "gemm/cpu_simd");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(ShellQuote, IsReadBackByTheShell) {
  for (const std::string word : {"a b", "it's", "''", "$HOME `id` \\n", "a;b&c|d", "*?[x]", "~",
                                 "#x", "line\nbreak", "\"", "\xc3\xa9", "!"})
    EXPECT_EQ(through_shell(shell_quote(word)), word);
}

}  // namespace
}  // namespace rooftile
