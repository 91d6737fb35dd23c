// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/json.h"

#include <string>

#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

std::string nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(Json, DepthIsBounded) {
  EXPECT_NO_THROW(parse_json(nested(64, "[", "]")));
  EXPECT_THROW(parse_json(nested(65, "[", "]")), Error);
  EXPECT_THROW(parse_json(nested(33, "[{\"a\":", "}]")), Error);
  EXPECT_THROW(parse_json(nested(10'000'000, "[", "]")), Error);
}

TEST(Json, BracketsInTextsAreNoDepth) {
  const std::string brackets(100, '[');
  EXPECT_EQ(parse_json("\"" + brackets + "\""), brackets);
  EXPECT_EQ(parse_json(R"("\")" + brackets + R"(\\")"), "\"" + brackets + "\\");
  EXPECT_THROW(parse_json(R"(["\\",)" + brackets), Error);
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "[", "{\"a\"}", "nul", "1e999", "\"\xFF\""})
    EXPECT_THROW(parse_json(text), Error) << text;
}

}  // namespace
}  // namespace rooftile
