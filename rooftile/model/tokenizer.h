// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back.
//
//   const auto tokenizer =
//   rooftile::make_tokenizer(rooftile::load_tokenizer_json("tokenizer.json")); const
//   std::vector<std::int32_t> ids = tokenizer->encode("Hello", {.add_special = true});
//
// Text is bytes. Invalid UTF-8 is legal input: each run of invalid bytes is a word of its own,
// which becomes the tokens of its bytes. A tokenizer is immutable: all threads may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/model/tokenizer_data.h"

namespace ROOFTILE_API rooftile {

struct EncodeOptions {
  /// Begin-of-sequence and end-of-sequence tokens where the model wants them.
  bool add_special = true;
  /// Control tokens are looked for in the text. Leave it off for what a user typed: the text
  /// "<|im_end|>" then is nine harmless characters.
  bool parse_special = false;
  /// Taken out of the text once control tokens have been looked for, so that none is found where
  /// this stands within its text: of what a user typed into a conversation, see
  /// ChatTemplate::render_guarded(). Empty: nothing.
  std::string_view mark{};
};

struct DecodeOptions {
  bool skip_special = true;  // leaves control tokens out
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The ids of `text`. A byte-level vocabulary may lack rare bytes (SmolLM2's has none for 0xFE):
  /// those are left out, as Hugging Face's tokenizers do. Throws Error(bad_input) for a text of 1
  /// GiB or more, for one without a token where the model has no unknown token, and where a pattern
  /// of the tokenizer takes too many steps.
  [[nodiscard]] virtual std::vector<std::int32_t> encode(std::string_view text,
                                                         EncodeOptions options) const = 0;
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const {
    return encode(text, EncodeOptions{});
  }

  /// The bytes that token `id` stands for; of a control token its name. They need not be valid
  /// UTF-8. Throws Error(bad_input) that names an id out of range.
  [[nodiscard]] virtual std::string_view piece(std::int32_t id) const = 0;

  /// Token `id` as the file spells it. Throws as piece() does.
  [[nodiscard]] virtual std::string_view spelt(std::int32_t id) const = 0;

  /// The bytes of `ids`, the exact text that was encoded (but for what the model's normaliser
  /// changed). Throws as piece() does.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids,
                                   DecodeOptions options = {}) const;

  /// What the tokenizer was made of, but for the tokens and merges, which are kept in a shorter
  /// form.
  [[nodiscard]] virtual const TokenizerData& data() const = 0;
  [[nodiscard]] virtual std::int32_t size() const = 0;
  [[nodiscard]] TokenType type(std::int32_t id) const;

  /// The texts of all control tokens, by id.
  [[nodiscard]] std::vector<std::string> control_texts() const;

  /// The id of the token spelt `token` in the file, of any type; -1 when there is none.
  [[nodiscard]] virtual std::int32_t find(std::string_view token) const = 0;
};

/// Throws Error(bad_input) that names the field: no tokens, lists of different lengths, ids out of
/// range, merges of unknown tokens, patterns that do not compile.
std::unique_ptr<Tokenizer> make_tokenizer(TokenizerData data);

/// Decodes token by token into valid UTF-8: holds back what may become a character, and writes
/// U+FFFD for bytes that can become none. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(&tokenizer), options_(options) {}

  /// The text that `id` completes; often empty.
  std::string push(std::int32_t id);

  /// The end: what was held back, as U+FFFD. The decoder may then start again.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  DecodeOptions options_;
  std::string held_{};
  bool is_at_start_ = true;
};

}  // namespace rooftile
