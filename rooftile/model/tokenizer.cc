// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/tokenizer.h"

#include <cstddef>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/model/added_tokens.h"
#include "rooftile/model/text_model.h"
#include "rooftile/model/text_pipeline.h"
#include "rooftile/model/utf8.h"
#include "rooftile/model/vocabulary.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{1} << 30;

// `text` without each `mark`.
std::string without(std::string_view text, std::string_view mark) {
  return mark.empty() ? std::string(text) : replaced(text, mark, "");
}

// Text is cut at added tokens, normalised, cut at the added tokens of normalised text, split into
// words, and each word becomes ids.
class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerData data)
      : vocabulary_(std::move(data)),
        splitter_(vocabulary_.data().splitter),
        model_(vocabulary_.data().kind == TokenizerKind::unigram ? make_unigram(vocabulary_)
                                                                 : make_bpe(vocabulary_)),
        with_control_{AddedTokens(vocabulary_, {.with_control = true, .is_normalised = false}),
                      AddedTokens(vocabulary_, {.with_control = true, .is_normalised = true})},
        without_control_{AddedTokens(vocabulary_, {.with_control = false, .is_normalised = false}),
                         AddedTokens(vocabulary_, {.with_control = false, .is_normalised = true})} {
    vocabulary_.forget_merges();
  }

  using Tokenizer::encode;
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text,
                                                 EncodeOptions options) const override {
    if (text.size() >= kMostTextBytes)
      fail_input("text of " + std::to_string(text.size()) + " bytes; allowed: less than " +
                 std::to_string(kMostTextBytes));
    std::vector<std::int32_t> ids;
    if (options.add_special && data().add_bos) ids.push_back(data().bos_id);
    const Finders& finders = options.parse_special ? with_control_ : without_control_;
    const auto add_token = [&](std::int32_t id) { ids.push_back(id); };
    const auto add_text = [&](std::string_view stretch, std::size_t begin) {
      encode_stretch(ids, stretch, {begin == 0, options.mark}, finders.in_normalised);
    };
    finders.in_text.split(text, add_text, add_token);
    if (options.add_special && data().add_eos) ids.push_back(data().eos_id);
    return ids;
  }

  [[nodiscard]] std::string_view piece(std::int32_t id) const override {
    return vocabulary_.piece(id);
  }
  [[nodiscard]] std::string_view spelt(std::int32_t id) const override {
    return vocabulary_.spelt(id);
  }
  [[nodiscard]] const TokenizerData& data() const override { return vocabulary_.data(); }
  [[nodiscard]] std::int32_t size() const override {
    return static_cast<std::int32_t>(vocabulary_.size());
  }
  [[nodiscard]] std::int32_t find(std::string_view token) const override {
    return vocabulary_.find(token);
  }

 private:
  struct Finders {
    AddedTokens in_text;
    AddedTokens in_normalised;
  };

  struct Place {
    bool is_at_start;
    std::string_view mark;
  };

  void encode_stretch(std::vector<std::int32_t>& ids, std::string_view stretch, Place place,
                      const AddedTokens& in_normalised) const {
    if (without(stretch, place.mark).empty()) return;
    const std::string text = normalised(stretch, data().normaliser);
    const auto add_token = [&](std::int32_t id) { ids.push_back(id); };
    const auto add_text = [&](std::string_view part, std::size_t begin) {
      const std::string bare = without(part, place.mark);
      if (bare.empty()) return;
      splitter_.each_word(bare, place.is_at_start && begin == 0,
                          [&](std::string_view word) { model_->encode(ids, word); });
    };
    in_normalised.split(text, add_text, add_token);
  }

  Vocabulary vocabulary_;
  Splitter splitter_;
  std::unique_ptr<TextModel> model_;
  Finders with_control_;
  Finders without_control_;
};

// Whether the blank that token `id` begins with goes when nothing stands before it.
bool strips_blank(const Tokenizer& tokenizer, std::int32_t id) {
  const TokenizerData& data = tokenizer.data();
  if (data.leading_blank != LeadingBlank::marker_stripped)
    return data.leading_blank == LeadingBlank::stripped;
  return tokenizer.spelt(id).starts_with(data.space_marker);
}

// What decoding writes for `id`; `is_at_start` is true until something was written.
std::string_view decoded(const Tokenizer& tokenizer, std::int32_t id, DecodeOptions options,
                         bool& is_at_start) {
  std::string_view piece = tokenizer.piece(id);
  if (options.skip_special && tokenizer.type(id) == TokenType::control) return {};
  if (is_at_start && piece.starts_with(' ') && strips_blank(tokenizer, id)) piece.remove_prefix(1);
  is_at_start = false;
  return piece;
}

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer(TokenizerData data) {
  return std::make_unique<PipelineTokenizer>(std::move(data));
}

std::vector<std::string> Tokenizer::control_texts() const {
  std::vector<std::string> texts;
  for (std::int32_t id = 0; id < size(); ++id)
    if (type(id) == TokenType::control) texts.emplace_back(spelt(id));
  return texts;
}

TokenType Tokenizer::type(std::int32_t id) const {
  static_cast<void>(piece(id));  // checks it
  const auto& types = data().types;
  return types.empty() ? TokenType::normal : types[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, DecodeOptions options) const {
  std::string text;
  bool is_at_start = true;
  for (const std::int32_t id : ids) text += decoded(*this, id, options, is_at_start);
  return text;
}

std::string StreamDecoder::push(std::int32_t id) {
  held_ += decoded(*tokenizer_, id, options_, is_at_start_);
  std::string text;
  std::size_t at = 0;
  while (at < held_.size()) {
    const CodePoint point = code_point_at(held_, at);
    if (point.status == Utf8::incomplete) break;
    text +=
        point.status == Utf8::valid ? std::string_view(held_).substr(at, point.size) : kReplacement;
    at += point.size;
  }
  held_.erase(0, at);
  return text;
}

std::string StreamDecoder::finish() {
  const std::string text(held_.empty() ? std::string_view() : kReplacement);
  held_.clear();
  is_at_start_ = true;
  return text;
}

}  // namespace rooftile
