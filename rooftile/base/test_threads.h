// SPDX-License-Identifier: Apache-2.0
// For tests: the host's work on so many threads, while this lives.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace rooftile {

class TestThreads {
 public:
  explicit TestThreads(int threads) {
    if (const char* text = std::getenv(kName); text != nullptr) before_ = text;
    setenv(kName, std::to_string(threads).c_str(), 1);
  }
  ~TestThreads() { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
  TestThreads(const TestThreads&) = delete;
  TestThreads& operator=(const TestThreads&) = delete;

 private:
  static constexpr const char* kName = "ROOFTILE_THREADS";
  std::optional<std::string> before_{};
};

}  // namespace rooftile
