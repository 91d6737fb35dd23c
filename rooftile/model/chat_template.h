// SPDX-License-Identifier: Apache-2.0
// A conversation as the text that a model was trained on: the chat template of its files, in a
// subset of Jinja. What is not of the subset is an error that names it and its line.
//
//   const rooftile::ChatTemplate chat(tokenizer->data().chat_template);
//   const rooftile::ChatPrompt prompt = chat.render_guarded(
//       {{.role = "user", .content = "Hello"}}, {.eos_token = "</s>"}, tokenizer->control_texts());
//   const auto ids = tokenizer->encode(
//       prompt.text, {.add_special = false, .parse_special = true, .mark = prompt.mark});
//
// Templates come from files that nobody vouches for: depth, steps, texts and output are bounded,
// and a template can reach nothing but its variables. Templates write control tokens, also the
// begin-of-sequence token. What somebody typed into a message must not become one: render_guarded()
// keeps the two apart.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant", "tool"
  std::string content;  // valid UTF-8
  /// More members of the message as a JSON object, as {"tool_calls": […]}; empty: none.
  std::string more_json{};
};

struct ChatOptions {
  bool add_generation_prompt = true;  // ends with what the assistant's turn begins with
  std::string bos_token{};            // the names of these tokens
  std::string eos_token{};
  std::string tools_json{};      // a JSON list of tools; empty: none
  std::string variables_json{};  // more variables as a JSON object, as {"enable_thinking": false}
  std::int64_t now_s = -1;       // the time that strftime_now() sees, since 1970; -1: the clock's
};

/// The text of a conversation in which control tokens that are the template's can be told from
/// those that were typed.
struct ChatPrompt {
  std::string text{};
  std::string mark{};  // stands within each that was typed, see EncodeOptions; empty: there is none
};

class ChatTemplate {
 public:
  /// Throws Error(bad_input) for wrong syntax or more than 1 MiB, Error(unsupported) for syntax
  /// that is not of the subset; both name the line.
  explicit ChatTemplate(std::string_view source);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&& other) noexcept;
  ChatTemplate& operator=(ChatTemplate&& other) noexcept;

  /// The text of the conversation. Throws Error(bad_input) where the template refuses it (with its
  /// reason), fails, or does more than is allowed; Error(unsupported) for filters, tests and
  /// methods that are not of the subset. Thread-safe.
  [[nodiscard]] std::string render(const std::vector<ChatMessage>& messages,
                                   const ChatOptions& options = {}) const;

  /// The same for a tokenizer with these control tokens: where a message (its role, content or
  /// other members) or a tool holds the text of one, or ends with the beginning of one, a mark
  /// stands after its first character. A control token of a single character cannot be marked so.
  /// `variables_json` is the application's own and is not guarded. Throws as render() does, and
  /// Error(bad_input) for a conversation that holds all 32 characters that may be marks.
  [[nodiscard]] ChatPrompt render_guarded(const std::vector<ChatMessage>& messages,
                                          const ChatOptions& options,
                                          std::span<const std::string> control_tokens) const;

  /// The same as render() with the variables that `variables_json`, a JSON object, gives and no
  /// others.
  [[nodiscard]] std::string render_variables(std::string_view variables_json,
                                             std::int64_t now_s = -1) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace rooftile
