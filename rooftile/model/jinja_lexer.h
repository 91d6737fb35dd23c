// SPDX-License-Identifier: Apache-2.0
// A template as tokens: text, and the words of its tags. Blanks around tags go as Jinja's options
// trim_blocks and lstrip_blocks and the marks - and + say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rooftile::jinja {

enum class TokenKind : unsigned char {
  text,         // outside of tags
  block_begin,  // {%
  block_end,
  output_begin,  // {{
  output_end,
  name,
  string,
  integer,
  real,
  sign,  // an operator or bracket
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text{};  // of a string: its value
  int line = 1;
  std::int64_t integer = 0;
  double real = 0;
};

/// Throws Error(bad_input) with the line for a tag, string or bracket that does not end.
std::vector<Token> tokens_of(std::string_view source);

/// Throws Error(bad_input) "chat template, line 3: message".
[[noreturn]] void fail_at(int line, const std::string& message);

}  // namespace rooftile::jinja
