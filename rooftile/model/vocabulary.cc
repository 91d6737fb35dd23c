// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/vocabulary.h"

#include <cmath>
#include <optional>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/model/byte_alphabet.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostTokens = 1 << 24;

// The byte that "<0x0A>" names.
std::optional<unsigned char> byte_named(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  const int high = digit(token[3]);
  const int low = digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

// "<0x0A>"
std::string byte_spelt(char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  return std::string("<0x") + kDigits[value / 16] + kDigits[value % 16] + ">";
}

void check_length(const char* field, std::size_t given, std::size_t tokens) {
  if (given != 0 && given != tokens)
    fail_input("tokenizer: " + std::to_string(given) + " " + field + " for " +
               std::to_string(tokens) + " tokens");
}

void check_id(const char* field, std::int32_t id, std::size_t tokens, bool may_be_none = true) {
  if (may_be_none && id == -1) return;
  if (id < 0 || static_cast<std::size_t>(id) >= tokens)
    fail_input("tokenizer: " + std::string(field) + " is " + std::to_string(id) + "; there are " +
               std::to_string(tokens) + " tokens");
}

std::string unmarked(std::string_view token, std::string_view marker) {
  std::string out;
  for (std::size_t at = 0; at < token.size();) {
    const bool is_marker = token.substr(at).starts_with(marker);
    out += is_marker ? ' ' : token[at];
    at += is_marker ? marker.size() : 1;
  }
  return out;
}

}  // namespace

Vocabulary::Vocabulary(TokenizerData data) : data_(std::move(data)) {
  check();
  keep_tokens();
  make_pieces();
  make_indexes();
}

void Vocabulary::check() const {
  const std::size_t tokens = data_.tokens.size();
  if (tokens == 0 || tokens > kMostTokens)
    fail_input("tokenizer: " + std::to_string(tokens) + " tokens; allowed: 1 to " +
               std::to_string(kMostTokens));
  check_length("scores", data_.scores.size(), tokens);
  check_length("token types", data_.types.size(), tokens);
  for (std::size_t i = 0; i < data_.types.size(); ++i)
    if (data_.types[i] > TokenType::byte)
      fail_input("tokenizer: type " + std::to_string(static_cast<int>(data_.types[i])) +
                 " of token " + std::to_string(i) + "; allowed: 0 to 6");
  for (std::size_t i = 0; i < data_.scores.size(); ++i)
    if (!std::isfinite(data_.scores[i]))
      fail_input("tokenizer: the score of token " + std::to_string(i) + " is not finite");
  const bool needs_scores = data_.kind == TokenizerKind::unigram ||
                            (data_.kind == TokenizerKind::piece_bpe && data_.merges.empty());
  if (needs_scores && data_.scores.empty())
    fail_input("tokenizer: neither scores nor merges are given");
  check_id("bos_id", data_.bos_id, tokens);
  check_id("eos_id", data_.eos_id, tokens);
  check_id("unk_id", data_.unk_id, tokens);
  check_id("pad_id", data_.pad_id, tokens);
  check_id("eot_id", data_.eot_id, tokens);
  if (data_.add_bos && data_.bos_id < 0) fail_input("tokenizer: add_bos without a bos_id");
  if (data_.add_eos && data_.eos_id < 0) fail_input("tokenizer: add_eos without an eos_id");
  for (const AddedToken& added : data_.added) check_id("an added token", added.id, tokens, false);
  for (const NormaliseStep& step : data_.normaliser)
    if (step.kind == NormaliseStep::Kind::replace && step.from.empty())
      fail_input("tokenizer: normaliser that replaces an empty text");
}

void Vocabulary::keep_tokens() {
  spelt_.reserve(data_.tokens.size());
  for (const std::string& token : data_.tokens) spelt_.append(token);
  spelt_.shrink_to_fit();
  data_.tokens = std::vector<std::string>();  // `= {}` would keep the capacity
}

TokenType Vocabulary::type(std::int32_t id) const {
  check_id("the token id", id, size(), false);
  return data_.types.empty() ? TokenType::normal : data_.types[static_cast<std::size_t>(id)];
}

std::string_view Vocabulary::spelt(std::int32_t id) const {
  check_id("the token id", id, size(), false);
  return spelt_[static_cast<std::size_t>(id)];
}

std::string_view Vocabulary::piece(std::int32_t id) const {
  check_id("the token id", id, size(), false);
  const auto at = static_cast<std::size_t>(id);
  return is_rewritten_[at] ? pieces_[at] : spelt_[at];
}

void Vocabulary::make_pieces() {
  pieces_.reserve(size());
  is_rewritten_.assign(size(), false);
  byte_tokens_.fill(-1);
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string_view token = spelt_[i];
    const auto id = static_cast<std::int32_t>(i);
    const TokenType own = type(id);
    const bool is_text = own == TokenType::normal || own == TokenType::undefined;
    std::optional<std::string> bytes;
    if (data_.kind == TokenizerKind::byte_level_bpe) {
      if (is_text) bytes = bytes_from_alphabet(token);
    } else if (const auto byte = byte_named(token);
               byte && (own == TokenType::byte || (is_text && data_.has_byte_fallback))) {
      if (byte_tokens_[*byte] < 0) byte_tokens_[*byte] = id;
      bytes = std::string(1, static_cast<char>(*byte));
    } else if (is_text && !data_.space_marker.empty() &&
               token.find(data_.space_marker) != std::string::npos) {
      bytes = unmarked(token, data_.space_marker);
    }
    pieces_.append(bytes.value_or(std::string()));
    is_rewritten_[i] = bytes.has_value();
  }
  pieces_.shrink_to_fit();
}

void Vocabulary::make_indexes() {
  std::vector<PrefixIndex::Entry> all;
  std::vector<PrefixIndex::Entry> words;
  all.reserve(size());
  words.reserve(size());
  const bool sees_bytes = data_.kind == TokenizerKind::byte_level_bpe;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    all.push_back({spelt_[i], id});
    const TokenType own = type(id);
    const bool is_word =
        own == TokenType::normal || own == TokenType::undefined || own == TokenType::user_defined;
    const bool is_byte = !sees_bytes && is_rewritten_[i] &&
                         byte_tokens_[static_cast<unsigned char>(pieces_[i][0])] == id;
    // Why not those that the alphabet does not spell: no text can become them.
    const bool is_spelt = !sees_bytes || is_rewritten_[i];
    if (is_word && !is_byte && is_spelt) words.push_back({sees_bytes ? pieces_[i] : spelt_[i], id});
  }
  all_ = PrefixIndex(std::move(all));
  words_ = PrefixIndex(std::move(words));
}

bool Vocabulary::has_bytes_of(std::string_view text) const {
  if (!data_.has_byte_fallback) return false;
  for (const char byte : text)
    if (byte_token(byte) < 0) return false;
  return true;
}

void Vocabulary::append_fallback(std::vector<std::int32_t>& ids, std::string_view text) const {
  if (data_.kind == TokenizerKind::byte_level_bpe) return;
  if (has_bytes_of(text)) {
    for (const char byte : text) ids.push_back(byte_token(byte));
  } else if (data_.unk_id >= 0) {
    const bool follows_unknown = !ids.empty() && ids.back() == data_.unk_id;
    if (!(data_.fuse_unknown && follows_unknown)) ids.push_back(data_.unk_id);
  } else {
    std::string bytes;
    for (const char byte : text.substr(0, 8)) bytes += " " + byte_spelt(byte);
    fail_input("tokenizer: no token for the bytes" + bytes +
               ", and neither an unknown token nor byte tokens");
  }
}

}  // namespace rooftile
