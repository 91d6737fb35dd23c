// SPDX-License-Identifier: Apache-2.0
// A regular expression of a tokenizer, compiled once and matched over whole texts (PCRE2). Patterns
// are written for Oniguruma, as in tokenizer.json, and come from files that nobody vouches for:
// their length, their steps and their memory are bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "rooftile/base/function_ref.h"

namespace rooftile {

class Pattern {
 public:
  /// Throws Error(bad_input) with the pattern, the reason and the place.
  explicit Pattern(std::string_view pattern);
  ~Pattern();
  Pattern(Pattern&& other) noexcept;
  Pattern& operator=(Pattern&&) = delete;

  /// Calls `found(begin, end)` for each match that is not empty, from left to right. `text` must be
  /// valid UTF-8. Throws Error(bad_input) where one match takes too many steps. Thread-safe.
  void each_match(std::string_view text,
                  FunctionRef<void(std::size_t begin, std::size_t end)> found) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace rooftile
