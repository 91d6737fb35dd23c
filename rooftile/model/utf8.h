// SPDX-License-Identifier: Apache-2.0
// UTF-8, one code point at a time (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rooftile {

enum class Utf8 : unsigned char {
  valid,
  invalid,     // can be no part of a character here
  incomplete,  // the start of a character that the end of the text cuts off
};

/// What stands at one place of a text. Where it is not valid, `size` counts the bytes that one
/// replacement character stands for (the "maximal subpart" of Unicode, section 3.9).
struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;
  Utf8 status = Utf8::valid;
};

/// The code point at `at` < text.size().
CodePoint code_point_at(std::string_view text, std::size_t at);

/// Appends `value`, at most U+10FFFF and no surrogate, as UTF-8.
void append_utf8(std::string& text, char32_t value);

/// Bytes from `at` on that are valid UTF-8.
std::size_t valid_run(std::string_view text, std::size_t at);

/// Bytes from `at` on that are no part of a character.
std::size_t invalid_run(std::string_view text, std::size_t at);

inline bool is_utf8(std::string_view text) { return valid_run(text, 0) == text.size(); }

/// Unicode's property White_Space.
bool is_white_space(char32_t c);

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace rooftile
