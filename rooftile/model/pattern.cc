// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostPatternBytes = 4096;
constexpr std::uint32_t kMostHeapKib = 64 << 10;
constexpr std::size_t kJitStackStart = 32 << 10;
constexpr std::size_t kJitStackMost = 1 << 20;

// Why: steps grow with the text in honest patterns (a run of blanks, a long word) and explode in
// others; a bound that is linear in the text lets the former pass and stops the latter.
std::uint32_t most_steps(std::size_t text_bytes) {
  return 100'000U + static_cast<std::uint32_t>(8 * text_bytes);
}

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

template <auto free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freer<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freer<pcre2_jit_stack_free>>;

// The pattern as PCRE2 spells the same thing. \s is Unicode's White_Space there, while PCRE2's also
// has U+180E; sets within sets mean something else in PCRE2 and are refused.
std::string translated(std::string_view pattern) {
  constexpr std::string_view kBlanks = R"(\p{Z}\t-\r\x{85})";
  std::string out;
  bool is_in_set = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("\\s")) {
      out += is_in_set ? std::string(kBlanks) : "[" + std::string(kBlanks) + "]";
      ++at;
    } else if (rest.starts_with("\\S") && !is_in_set) {
      out += "[^" + std::string(kBlanks) + "]";
      ++at;
    } else if (rest.front() == '\\' && rest.size() > 1) {
      out += rest.substr(0, 2);
      ++at;
    } else if (is_in_set &&
               (rest.starts_with("&&") || (rest[0] == '[' && !rest.starts_with("[:")))) {
      fail_input("pre-tokenizer pattern '" + std::string(pattern) + "': sets within sets, at " +
                 std::to_string(at) + ", are not supported");
    } else {
      const bool is_posix_class = is_in_set && rest.starts_with("[:");
      if (is_posix_class) {
        const std::size_t end = rest.find(":]");
        const std::size_t size = end == std::string_view::npos ? 2 : end + 2;
        out += rest.substr(0, size);
        at += size - 1;
        continue;
      }
      if (rest[0] == '[') is_in_set = true;
      if (rest[0] == ']') is_in_set = false;
      out += rest[0];
    }
  }
  return out;
}

Code compile(std::string_view pattern) {
  const std::string text = translated(pattern);
  // Why multi-line: in Oniguruma's syntax ^ and $ are those of lines. Why never \C: it could end
  // a match within a character.
  constexpr std::uint32_t kOptions =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;
  int code = 0;
  PCRE2_SIZE at = 0;
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (context) pcre2_set_parens_nest_limit(context.get(), 50);
  Code compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), kOptions,
                              &code, &at, context.get()));
  if (!compiled)
    fail_input("pre-tokenizer pattern '" + std::string(pattern) + "' does not compile: " +
               message_of(code) + " (at " + std::to_string(at) + " of '" + text + "')");
  // Without JIT support the interpreter runs: slower, the same matches.
  pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
  return compiled;
}

}  // namespace

struct Pattern::Compiled {
  Code code;
};

Pattern::Pattern(std::string_view pattern) {
  if (pattern.empty() || pattern.size() > kMostPatternBytes)
    fail_input("pre-tokenizer pattern of " + std::to_string(pattern.size()) +
               " bytes; allowed: 1 to " + std::to_string(kMostPatternBytes));
  if (!is_utf8(pattern)) fail_input("pre-tokenizer pattern is not valid UTF-8");
  compiled_ = std::make_unique<Compiled>(Compiled{compile(pattern)});
}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&& other) noexcept = default;

void Pattern::each_match(std::string_view text,
                         FunctionRef<void(std::size_t begin, std::size_t end)> found) const {
  const MatchContext context(pcre2_match_context_create(nullptr));
  const MatchData data(pcre2_match_data_create(1, nullptr));
  const JitStack stack(pcre2_jit_stack_create(kJitStackStart, kJitStackMost, nullptr));
  if (!context || !data) throw Error(ErrorCode::out_of_memory, "no memory to match a pattern");
  pcre2_set_match_limit(context.get(), most_steps(text.size()));
  pcre2_set_heap_limit(context.get(), kMostHeapKib);
  if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());

  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data.get());
  for (std::size_t at = 0; at < text.size();) {
    const int code = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                 text.size(), at, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (code == PCRE2_ERROR_NOMATCH) return;
    if (code < 0)
      fail_input("pre-tokenizer pattern fails on this text after byte " + std::to_string(at) +
                 ": " + message_of(code));
    if (range[1] > range[0]) found(range[0], range[1]);
    // An empty match is stepped over by a character.
    at = range[1] > range[0]      ? range[1]
         : range[0] < text.size() ? range[0] + code_point_at(text, range[0]).size
                                  : text.size();
  }
}

}  // namespace rooftile
