// SPDX-License-Identifier: Apache-2.0
// A folder for one test, and a cache of its own: no test reads or writes the user's cache.
#pragma once

#include <stdlib.h>  // setenv, mkdtemp

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace rooftile {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "rooftile_test_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// An environment variable with another value, or none, until the end of the scope.
class TestVariable {
 public:
  TestVariable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ~TestVariable() { set(old_); }
  TestVariable(const TestVariable&) = delete;
  TestVariable& operator=(const TestVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> old_{};
};

/// $ROOFTILE_CACHE in a folder of its own until the end of the scope.
class TestCache {
 public:
  TestCache() : variable_("ROOFTILE_CACHE", folder_.path()) {}
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TestFolder folder_;
  TestVariable variable_;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace rooftile
