// SPDX-License-Identifier: Apache-2.0
// Mapped files: what can be mapped, and what is refused with which words.
#include "rooftile/base/mapped_file.h"

#include <sys/stat.h>

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string refusal(const std::string& path) {
  try {
    const MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("'" + path + "'"));
    return error.what();
  }
  return "";
}

TEST(MappedFile, HoldsTheBytes) {
  const TestFolder folder;
  write_text(folder.file("a"), std::string("one\0two", 7));
  const MappedFile file(folder.file("a"));
  EXPECT_EQ(text_of(file), std::string("one\0two", 7));
  EXPECT_EQ(file.path(), folder.file("a"));
}

TEST(MappedFile, Moves) {
  const TestFolder folder;
  write_text(folder.file("a"), "first");
  write_text(folder.file("b"), "second");
  MappedFile a(folder.file("a"));
  MappedFile b(std::move(a));
  EXPECT_EQ(text_of(b), "first");
  a = MappedFile(folder.file("b"));
  b = std::move(a);
  EXPECT_EQ(text_of(b), "second");
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  const TestFolder folder;
  EXPECT_THAT(refusal(folder.file("none")), HasSubstr("No such file"));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("folder"));
  write_text(folder.file("empty"), "");
  EXPECT_THAT(refusal(folder.file("empty")), HasSubstr("empty"));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder.file("pipe")), HasSubstr("regular file"));
}

}  // namespace
}  // namespace rooftile
