// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/args.h"

#include <gmock/gmock.h>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<ArgOption> kTable{{"--set", "NAME", "which cases"},
                                    {"--hot", "", "keep the caches"},
                                    {"--policy", "P", "how to judge", {"strict", "loose"}},
                                    {"--plugin", "F.so", "load it", {}, true}};

ParsedArgs parse(const std::vector<std::string>& arguments) {
  return parse_args(kTable, arguments);
}

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    (void)parse(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(Args, SplitsOptionsAndWords) {
  const ParsedArgs args =
      parse({"a", "--set", "ci", "b=1", "--hot", "--plugin=x", "--plugin", "y"});
  EXPECT_THAT(args.words, ElementsAre("a", "b=1"));
  EXPECT_EQ(args.value("--set"), "ci");
  EXPECT_TRUE(args.has("--hot"));
  EXPECT_FALSE(args.has("--policy"));
  EXPECT_EQ(args.value("--policy", "strict"), "strict");
  EXPECT_THAT(args.values("--plugin"), ElementsAre("x", "y"));
}

TEST(Args, TwoDashesEndTheOptions) {
  EXPECT_THAT(parse({"--hot", "--", "--set", "x"}).words, ElementsAre("--set", "x"));
}

TEST(Args, ASingleDashIsAValueAndAWord) {
  EXPECT_EQ(parse({"--set", "-"}).value("--set"), "-");
  EXPECT_THAT(parse({"-"}).words, ElementsAre("-"));
}

TEST(Args, ValuesMayBeEmptyOrHoldAnEqualsSign) {
  EXPECT_EQ(parse({"--set="}).value("--set", "otherwise"), "");
  EXPECT_EQ(parse({"--set=a=b"}).value("--set"), "a=b");
}

TEST(Args, RefusesWithTheReason) {
  EXPECT_THAT(error_of({"--sett", "x"}),
              HasSubstr("unknown option '--sett'; did you mean '--set'?"));
  EXPECT_THAT(error_of({"--set"}), HasSubstr("'--set' needs a value: --set NAME"));
  EXPECT_THAT(error_of({"--set", "--hot"}), HasSubstr("'--set' needs a value"));
  EXPECT_THAT(error_of({"--hot=yes"}), HasSubstr("'--hot' takes no value"));
  EXPECT_THAT(error_of({"--set", "a", "--set", "b"}), HasSubstr("'--set' is given twice"));
  EXPECT_THAT(error_of({"--policy", "stric"}), HasSubstr("did you mean 'strict'?"));
}

TEST(Args, ChecksNumbers) {
  const ParsedArgs args = parse({"--set", "12", "--plugin", "1.5"});
  EXPECT_EQ(args.integer("--set", 0, 1, 20), 12);
  EXPECT_EQ(args.number("--plugin", 0, 1, 2), 1.5);
  EXPECT_EQ(args.integer("--policy", 7, 1, 20), 7);
  EXPECT_THROW((void)args.integer("--set", 0, 1, 10), Error);
  EXPECT_THROW((void)args.integer("--plugin", 0, 1, 10), Error);
  EXPECT_THROW((void)args.number("--plugin", 0, 2, 3), Error);
}

TEST(Args, HelpIsAligned) {
  EXPECT_EQ(options_text(std::vector<ArgOption>{{"--set", "NAME", "which"}, {"--hot", "", "keep"}}),
            "--set NAME  which\n--hot       keep\n");
}

}  // namespace
}  // namespace rooftile
