// SPDX-License-Identifier: Apache-2.0
// Files: read whole, replaced whole or not at all, and never touched by a mere check.
#include "rooftile/base/file.h"

#include <unistd.h>

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"

namespace rooftile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

ErrorCode code_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  return ErrorCode::ok;
}

int entries_of(const std::string& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReadFile, GivesTheWholeText) {
  const TestFolder folder;
  const std::string text("a\0b\r\n\xff", 6);
  write_text(folder.file("a"), text);
  EXPECT_EQ(read_file(folder.file("a")), text);
  write_text(folder.file("empty"), "");
  EXPECT_EQ(read_file(folder.file("empty")), "");
}

TEST(ReadFile, OfNoFileIsNothing) {
  const TestFolder folder;
  EXPECT_EQ(read_file(folder.file("none")), std::nullopt);
  EXPECT_EQ(read_file(folder.file("none/none")), std::nullopt);
}

TEST(ReadFile, RefusesFoldersLoopsAndTooMuch) {
  const TestFolder folder;
  std::string message;
  EXPECT_EQ(code_of([&] { read_file(folder.path()); }, &message), ErrorCode::io);
  EXPECT_THAT(message, HasSubstr(folder.path()));
  fs::create_symlink("loop", folder.file("loop"));
  EXPECT_EQ(code_of([&] { read_file(folder.file("loop")); }), ErrorCode::io);
  write_text(folder.file("big"), "12345");
  EXPECT_EQ(read_file(folder.file("big"), 5), "12345");
  EXPECT_EQ(code_of([&] { read_file(folder.file("big"), 4); }), ErrorCode::io);
}

TEST(ReplaceFile, ReplacesAndLeavesNothingElse) {
  const TestFolder folder;
  replace_file(folder.file("a"), "first, and longer");
  replace_file(folder.file("a"), "second");
  EXPECT_EQ(text_of_file(folder.file("a")), "second");
  EXPECT_EQ(entries_of(folder.path()), 1);
}

TEST(ReplaceFile, LeavesWhatWasThereOnFailure) {
  const TestFolder folder;
  fs::create_directory(folder.file("taken"));
  write_text(folder.file("taken/inside"), "old");
  std::string message;
  EXPECT_EQ(code_of([&] { replace_file(folder.file("taken"), "new"); }, &message), ErrorCode::io);
  EXPECT_THAT(message, HasSubstr("taken"));
  EXPECT_EQ(text_of_file(folder.file("taken/inside")), "old");
  EXPECT_EQ(entries_of(folder.path()), 1) << "a temporary file was left behind";
  EXPECT_EQ(code_of([&] { replace_file(folder.file("none/a"), "new"); }), ErrorCode::io);
  EXPECT_FALSE(fs::exists(folder.file("none")));
}

// A full disk: the text cannot be written, so the old file must stay. /dev/full refuses every
// write.
TEST(ReplaceFile, SurvivesAFullDisk) {
  const TestFolder folder;
  write_text(folder.file("a"), "old");
  fs::create_symlink("/dev/full", folder.file("a") + ".tmp" + std::to_string(getpid()));
  std::string message;
  EXPECT_EQ(code_of([&] { replace_file(folder.file("a"), "new"); }, &message), ErrorCode::io);
  EXPECT_THAT(message, HasSubstr("No space left"));
  EXPECT_EQ(text_of_file(folder.file("a")), "old");
  EXPECT_EQ(entries_of(folder.path()), 1);
}

TEST(CheckWritable, CreatesAndChangesNothing) {
  const TestFolder folder;
  check_writable(folder.file("new"));
  EXPECT_EQ(entries_of(folder.path()), 0);
  write_text(folder.file("old"), "text");
  check_writable(folder.file("old"));
  EXPECT_EQ(text_of_file(folder.file("old")), "text");
}

TEST(CheckWritable, RefusesWhatCouldNotBeWritten) {
  const TestFolder folder;
  write_text(folder.file("file"), "text");
  for (const std::string& path :
       {std::string(), folder.path(), folder.file("none/a"), folder.file("file/a")}) {
    std::string message;
    EXPECT_EQ(code_of([&] { check_writable(path); }, &message), ErrorCode::bad_input) << path;
    EXPECT_THAT(message, HasSubstr("cannot write '" + path + "'"));
  }
}

TEST(CacheFolder, IsTheFirstOfThreePlaces) {
  const TestVariable own("ROOFTILE_CACHE", "/own");
  EXPECT_EQ(cache_folder(), "/own");
  const TestVariable no_own("ROOFTILE_CACHE", "");
  const TestVariable xdg("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(cache_folder(), "/xdg/rooftile");
  const TestVariable no_xdg("XDG_CACHE_HOME", std::nullopt);
  const TestVariable home("HOME", "/home/user");
  EXPECT_EQ(cache_folder(), "/home/user/.cache/rooftile");
}

}  // namespace
}  // namespace rooftile
