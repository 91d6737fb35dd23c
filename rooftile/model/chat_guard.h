// SPDX-License-Identifier: Apache-2.0
// Keeps what somebody typed into a message from being read as a control token of the template. A
// mark, a character that the conversation does not have, goes into the text of each control token
// that a message holds, after its first character. The template trims, cuts and joins such text as
// any other; the tokenizer then looks for control tokens, and takes the marks out (see
// EncodeOptions::mark).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rooftile/model/jinja_value.h"
#include "rooftile/model/prefix_index.h"

namespace rooftile {

class ChatGuard {
 public:
  /// The tokens' texts, which must outlive it.
  explicit ChatGuard(std::span<const std::string> control_tokens);

  /// Whether a text within `value`, names of members included, holds a control token or ends with
  /// the beginning of one, which the template's own text might complete.
  [[nodiscard]] bool is_needed(const jinja::Value& value) const;

  /// `value` with `mark` in all such places.
  [[nodiscard]] jinja::Value marked(const jinja::Value& value, std::string_view mark) const;

  /// A character that neither `source`, the template's text, nor a text within `values` has, also
  /// as JSON may spell it. Throws Error(bad_input) when they have all 32 that Unicode keeps for
  /// such uses (U+FDD0 to U+FDEF).
  static std::string new_mark(std::string_view source, std::span<const jinja::Value> values);

  /// As JSON that is plain ASCII spells `mark`.
  static std::string escaped(std::string_view mark);

 private:
  [[nodiscard]] bool begins_token(std::string_view text) const;
  [[nodiscard]] std::string marked_text(std::string_view text, std::string_view mark) const;

  std::span<const std::string> tokens_;
  PrefixIndex index_;
};

}  // namespace rooftile
