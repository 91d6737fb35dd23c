// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/jinja_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "rooftile/base/error.h"
#include "rooftile/model/utf8.h"

namespace rooftile::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Line ends as \n, the last one dropped.
std::string with_plain_lines(std::string_view source) {
  std::string out;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const bool is_pair = source[at] == '\r' && at + 1 < source.size() && source[at + 1] == '\n';
    if (!is_pair) out += source[at] == '\r' ? '\n' : source[at];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      text_before_tag();
      if (at_ == source_.size()) break;
      if (looking_at("{#")) {
        comment();
      } else if (looking_at("{{")) {
        tag(TokenKind::output_begin, TokenKind::output_end, "}}");
      } else if (!raw()) {
        tag(TokenKind::block_begin, TokenKind::block_end, "%}");
      }
    }
    add(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool looking_at(std::string_view what) const {
    return std::string_view(source_).substr(at_).starts_with(what);
  }

  Token& add(TokenKind kind, std::string text = "") {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = std::move(text);
    token.line = line_;
    return token;
  }

  void advance(std::size_t count) {
    const auto begin = source_.begin() + static_cast<std::ptrdiff_t>(at_);
    line_ += static_cast<int>(std::count(begin, begin + static_cast<std::ptrdiff_t>(count), '\n'));
    at_ += count;
    is_line_start_ = at_ != 0 && source_[at_ - 1] == '\n';
  }

  void skip_blanks() {
    std::size_t end = at_;
    while (end < source_.size() && is_blank(source_[end])) ++end;
    advance(end - at_);
  }

  // The text to the next tag, without the blanks that the tag's opening takes.
  void text_before_tag() {
    std::size_t end = at_;
    do {
      end = source_.find('{', end);
      if (end == std::string::npos || end + 1 >= source_.size()) end = source_.size();
    } while (end < source_.size() &&
             std::string_view("{%#").find(source_[end + 1]) == std::string_view::npos && ++end);
    std::string text = source_.substr(at_, end - at_);
    const char mark = end + 2 < source_.size() ? source_[end + 2] : '\0';
    const bool is_output = end < source_.size() && source_[end + 1] == '{';
    if (end < source_.size() && mark == '-') {
      while (!text.empty() && is_blank(text.back())) text.pop_back();
    } else if (end < source_.size() && mark != '+' && !is_output) {
      const std::size_t line = text.rfind('\n') + 1;  // 0 when there is none
      const bool is_indent =
          std::all_of(text.begin() + static_cast<std::ptrdiff_t>(line), text.end(), is_blank);
      if (is_indent && (line > 0 || is_line_start_)) text.resize(line);
    }
    if (!text.empty()) add(TokenKind::text, text);
    if (end != at_) advance(end - at_);
  }

  // Past the end of a tag of which `size` bytes with its mark are left; what follows it is trimmed.
  void end_tag(std::size_t size, char mark, bool is_output) {
    advance(size);
    if (mark == '-') {
      skip_blanks();
    } else if (mark != '+' && !is_output && looking_at("\n")) {
      advance(1);
    }
  }

  void comment() {
    const std::size_t end = source_.find("#}", at_ + 2);
    if (end == std::string::npos) fail_at(line_, "a comment {# that does not end");
    const char mark = end > at_ + 2 ? source_[end - 1] : '\0';
    end_tag(end + 2 - at_, mark, false);
  }

  // {% raw %} … {% endraw %}: text, whatever is in it.
  bool raw() {
    std::size_t size = 0;
    char mark = '\0';
    if (!is_word_tag(at_, "raw", size, mark)) return false;
    const int line = line_;
    end_tag(size, mark, false);
    for (std::size_t end = source_.find("{%", at_); end != std::string::npos;
         end = source_.find("{%", end + 2)) {
      if (!is_word_tag(end, "endraw", size, mark)) continue;
      std::string text = source_.substr(at_, end - at_);
      if (source_[end + 2] == '-')
        while (!text.empty() && is_blank(text.back())) text.pop_back();
      add(TokenKind::text, text);
      advance(end - at_);
      end_tag(size, mark, false);
      return true;
    }
    fail_at(line, "{% raw %} that does not end");
  }

  [[nodiscard]] bool is_word_tag(std::size_t begin, std::string_view word, std::size_t& size,
                                 char& mark) const {
    std::size_t at = begin + 2;
    const auto is_at = [&](char c) { return at < source_.size() && source_[at] == c; };
    if (is_at('-') || is_at('+')) ++at;
    while (at < source_.size() && is_blank(source_[at])) ++at;
    if (source_.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    while (at < source_.size() && is_blank(source_[at])) ++at;
    mark = is_at('-') || is_at('+') ? source_[at++] : '\0';
    size = at + 2 - begin;
    return source_.compare(at, 2, "%}") == 0;
  }

  void tag(TokenKind begin, TokenKind end, std::string_view closing) {
    add(begin);
    const int line = line_;
    advance(2);
    if (looking_at("-") || looking_at("+")) advance(1);
    std::string brackets;  // what closes those that are open
    while (true) {
      skip_blanks();
      if (at_ == source_.size()) fail_at(line, "a tag that does not end");
      const char mark = looking_at("-") || looking_at("+") ? source_[at_] : '\0';
      const std::size_t size = mark == '\0' ? 0 : 1;
      if (brackets.empty() && std::string_view(source_).substr(at_ + size).starts_with(closing)) {
        add(end);
        return end_tag(size + 2, mark, end == TokenKind::output_end);
      }
      word(brackets);
    }
  }

  void word(std::string& brackets) {
    const char c = source_[at_];
    if (is_name_start(c)) {
      std::size_t end = at_;
      while (end < source_.size() && is_name_part(source_[end])) ++end;
      add(TokenKind::name, source_.substr(at_, end - at_));
      advance(end - at_);
    } else if (is_digit(c)) {
      number();
    } else if (c == '\'' || c == '"') {
      string(c);
    } else {
      sign(brackets);
    }
  }

  void number() {
    std::size_t end = at_;
    bool is_real = false;
    std::string digits;
    const auto take_digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) {
        if (source_[end] != '_') digits += source_[end];
        ++end;
      }
    };
    const auto digit_at = [&](std::size_t at) {
      return at < source_.size() && is_digit(source_[at]);
    };
    take_digits();
    if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      is_real = true;
      digits += source_[end++];
      take_digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const bool has_sign =
          end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+');
      if (digit_at(end + (has_sign ? 2 : 1))) {
        is_real = true;
        digits += 'e';
        if (has_sign && source_[end + 1] == '-') digits += '-';
        end += has_sign ? 2 : 1;
        take_digits();
      }
    }
    Token& token = add(is_real ? TokenKind::real : TokenKind::integer, digits);
    const char* last = digits.data() + digits.size();
    const auto result = is_real ? std::from_chars(digits.data(), last, token.real)
                                : std::from_chars(digits.data(), last, token.integer);
    const bool is_word = end < source_.size() && is_name_part(source_[end]);
    if (result.ec != std::errc() || result.ptr != last || is_word)
      fail_at(line_, "'" + source_.substr(at_, std::min<std::size_t>(end - at_ + 1, 40)) +
                         "' is no number that fits");
    advance(end - at_);
  }

  void string(char quote) {
    std::string value;
    const int line = line_;
    std::size_t at = at_ + 1;
    while (at < source_.size() && source_[at] != quote) {
      if (source_[at] == '\\' && at + 1 < source_.size())
        escape(value, at);
      else
        value += source_[at++];
    }
    if (at >= source_.size()) fail_at(line, "a string that does not end");
    add(TokenKind::string, value);
    advance(at + 1 - at_);
  }

  // Python's escapes; an unknown one keeps its backslash.
  void escape(std::string& value, std::size_t& at) {
    constexpr std::string_view kLetters = "abfnrtv\\'\"";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"";
    const char c = source_[at + 1];
    if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
      value += kValues[known];
      at += 2;
    } else if (c == '\n') {
      at += 2;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t size = c == 'x' ? 2 : (c == 'u' ? 4 : 8);
      const std::string digits = source_.substr(std::min(at + 2, source_.size()), size);
      unsigned code = 0;
      const char* last = digits.data() + digits.size();
      const auto result = std::from_chars(digits.data(), last, code, 16);
      const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
      if (digits.size() != size || result.ptr != last || code > 0x10FFFF || is_surrogate)
        fail_at(line_, "the escape \\" + std::string(1, c) + digits + " names no character");
      append_utf8(value, code);
      at += 2 + size;
    } else {
      value += '\\';
      ++at;
    }
  }

  void sign(std::string& brackets) {
    constexpr std::array<std::string_view, 26> kSigns{
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "(",
        ")",  "[",  "]",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view sign : kSigns) {
      if (!looking_at(sign)) continue;
      constexpr std::string_view kOpen = "([{";
      constexpr std::string_view kClose = ")]}";
      if (const auto open = kOpen.find(sign); open != std::string_view::npos) {
        brackets += kClose[open];
      } else if (kClose.find(sign) != std::string_view::npos) {
        if (brackets.empty() || brackets.back() != sign[0])
          fail_at(line_, "'" + std::string(sign) + "' closes nothing");
        brackets.pop_back();
      }
      add(TokenKind::sign, std::string(sign));
      return advance(sign.size());
    }
    fail_at(line_,
            "unexpected character '" + source_.substr(at_, code_point_at(source_, at_).size) + "'");
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool is_line_start_ = true;
  std::vector<Token> tokens_{};
};

}  // namespace

void fail_at(int line, const std::string& message) {
  fail_input("chat template, line " + std::to_string(line) + ": " + message);
}

std::vector<Token> tokens_of(std::string_view source) {
  return Lexer(with_plain_lines(source)).run();
}

}  // namespace rooftile::jinja
