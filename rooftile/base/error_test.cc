// SPDX-License-Identifier: Apache-2.0
// Errors: their codes, and the suggestions that they make.
#include "rooftile/base/error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kOps{"rmsnorm", "softmax", "gemm"};

TEST(Error, CarriesCodeAndMessage) {
  try {
    fail_input("rows: too many");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_STREQ(error.what(), "rows: too many");
    return;
  }
  FAIL() << "nothing thrown";
}

// The C interface returns these numbers: none may ever change.
TEST(Error, CodesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(ErrorCode::ok), 0);
  EXPECT_EQ(static_cast<int>(ErrorCode::bad_input), 1);
  EXPECT_EQ(static_cast<int>(ErrorCode::unsupported), 2);
  EXPECT_EQ(static_cast<int>(ErrorCode::out_of_memory), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::device), 4);
  EXPECT_EQ(static_cast<int>(ErrorCode::io), 5);
  EXPECT_EQ(static_cast<int>(ErrorCode::internal), 6);
}

TEST(NearMisses, FindTyposAndPrefixes) {
  EXPECT_THAT(near_misses("rmsnrom", kOps), ElementsAre("rmsnorm"));
  EXPECT_THAT(near_misses("soft", kOps), ElementsAre("softmax"));
  EXPECT_THAT(near_misses("softmax_fused", kOps), ElementsAre("softmax"));
  EXPECT_THAT(near_misses("gem", kOps), ElementsAre("gemm"));
  EXPECT_THAT(near_misses("bf61", {"bf16", "fp16"}), ElementsAre("bf16"));
  EXPECT_THAT(near_misses("emgm", kOps), IsEmpty()) << "two edits of four letters";
}

TEST(NearMisses, FindNothingThatIsFar) {
  EXPECT_THAT(near_misses("attention", kOps), IsEmpty());
  EXPECT_THAT(near_misses("", kOps), IsEmpty());
  EXPECT_THAT(near_misses("gemm", {}), IsEmpty());
}

TEST(NearMisses, AreBestFirstAndAtMostThree) {
  EXPECT_THAT(near_misses("abcdef", {"abcxyf", "abcdeg", "abcdef", "abxdef", "abcdeh"}),
              ElementsAre("abcdef", "abcdeg", "abxdef"));
}

TEST(UnknownName, SuggestsAndLists) {
  EXPECT_EQ(unknown_name("operation", "gemn", kOps),
            "unknown operation 'gemn'; did you mean 'gemm'? known: rmsnorm, softmax, gemm");
  EXPECT_EQ(unknown_name("operation", "attention", kOps),
            "unknown operation 'attention'; known: rmsnorm, softmax, gemm");
  EXPECT_EQ(unknown_name("operation", "x", {}), "unknown operation 'x'");
}

TEST(UnknownName, KeepsLongListsToItself) {
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("dtype_" + std::to_string(100 + i));
  EXPECT_THAT(unknown_name("dtype", "dtype_10", many), Not(HasSubstr("dtype_139")));
  EXPECT_THAT(unknown_name("dtype", "zzz", many), HasSubstr("dtype_139"));
}

}  // namespace
}  // namespace rooftile
