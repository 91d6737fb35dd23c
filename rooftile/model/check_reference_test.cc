// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/check_reference.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_with(const std::string& tokens, const std::string& gaps = "[0.5]") {
  return R"({"sequences": [{"prompt_ids": [1, 2], "token_ids": )" + tokens +
         R"(, "second_ids": [4], "gaps": )" + gaps + "}]}";
}

std::string refusal(const std::string& text) {
  try {
    (void)references_from_json(text, "r.json");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'r.json'"));
    return error.what();
  }
  return "";
}

TEST(References, AreRead) {
  const auto references = references_from_json(file_with("[2147483647]"), "r.json");
  ASSERT_EQ(references.size(), 1U);
  EXPECT_THAT(references[0].prompt, ElementsAre(1, 2));
  EXPECT_THAT(references[0].tokens, ElementsAre(2147483647));
  EXPECT_THAT(references[0].gap, ElementsAre(0.5));
}

TEST(References, IdsThatAreNoneAreRefused) {
  for (const char* id : {"2147483648", "18446744073709551615", "-1", "1e300", "0.5", "\"1\"", "[]"})
    EXPECT_THAT(refusal(file_with("[" + std::string(id) + "]")), HasSubstr("no token id")) << id;
}

TEST(References, WrongFilesAreRefused) {
  EXPECT_THAT(refusal(file_with("[]")), HasSubstr("without prompt or tokens"));
  EXPECT_THAT(refusal(file_with("[1, 2]")), HasSubstr("must be as many"));
  EXPECT_THAT(refusal(file_with("5")), HasSubstr("token_ids must be a list"));
  EXPECT_THAT(refusal(file_with("[3]", "0.5")), HasSubstr("array"));
  EXPECT_THAT(refusal(R"({"sequences": []})"), HasSubstr("no sequences"));
  EXPECT_THAT(refusal(R"({"sequences": {"a": {}}})"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("nested deeper"));
  for (const char* text : {"", "1", "{}", R"({"sequences": [1]})"})
    EXPECT_NE(refusal(text), "") << text;
}

}  // namespace
}  // namespace rooftile
