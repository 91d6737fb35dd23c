// SPDX-License-Identifier: Apache-2.0
// A conversation as the text that a model was trained on: the chat template of its files, in a
// subset of Jinja. What is not of the subset is an error that names it and its line.
//
//   const rooftile::ChatTemplate chat(tokenizer->data().chat_template);
//   const std::string prompt = chat.render({{.role = "user", .content = "Hello"}}, {.eos_token =
//   "</s>"});
//
// Templates come from files that nobody vouches for: depth, steps, texts and output are bounded,
// and a template can reach nothing but its variables. The text may contain control tokens, those of
// the template and those that somebody typed into a message; encode it with parse_special and
// without add_special, since templates write the begin-of-sequence token themselves.
#pragma once

#include <cstdint>
#include <memory>
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

  /// The same with the variables that `variables_json`, a JSON object, gives and no others.
  [[nodiscard]] std::string render_variables(std::string_view variables_json,
                                             std::int64_t now_s = -1) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace rooftile
