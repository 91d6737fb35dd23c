// SPDX-License-Identifier: Apache-2.0
// A tokenizer's checked data and its indexes: which bytes each token stands for, and which token
// some bytes are. The models (bpe.h, unigram.h) turn words into ids with it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rooftile/model/prefix_index.h"
#include "rooftile/model/text_table.h"
#include "rooftile/model/tokenizer_data.h"

namespace rooftile {

class Vocabulary {
 public:
  /// Throws Error(bad_input) that names the field which is wrong.
  explicit Vocabulary(TokenizerData data);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// All but the tokens, which are kept here in a shorter form.
  [[nodiscard]] const TokenizerData& data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return spelt_.size(); }
  /// Token `id` as the file spells it. Throws for a bad id.
  [[nodiscard]] std::string_view spelt(std::int32_t id) const;
  /// Frees the texts of the merges, for who has made something shorter of them.
  void forget_merges() { data_.merges = std::vector<Merge>(); }  // `= {}` keeps the capacity
  [[nodiscard]] TokenType type(std::int32_t id) const;

  /// What token `id` stands for: bytes of text, or a control token's name. Throws for a bad id.
  [[nodiscard]] std::string_view piece(std::int32_t id) const;

  /// The token spelt so in the file, of any type; -1 for none.
  [[nodiscard]] std::int32_t find(std::string_view token) const { return all_.find(token); }

  /// Tokens that ordinary text may become, in the form that models see it: bytes for
  /// byte_level_bpe, else as spelt. Control, unknown, unused and byte tokens are not among them.
  [[nodiscard]] const PrefixIndex& words() const { return words_; }

  /// The token <0xNN> of a byte; -1 for none.
  [[nodiscard]] std::int32_t byte_token(char byte) const {
    return byte_tokens_[static_cast<unsigned char>(byte)];
  }

  /// Appends what stands for `text`, which is no token: its byte tokens where the model has byte
  /// fallback and all of them exist, else the unknown token. Throws where there is neither. In
  /// byte_level_bpe nothing: vocabularies that lack rare bytes were trained to pass them over, and
  /// their unknown token is a control token, which text must never become.
  void append_fallback(std::vector<std::int32_t>& ids, std::string_view text) const;
  [[nodiscard]] bool has_bytes_of(std::string_view text) const;

 private:
  void check() const;
  void keep_tokens();
  void make_pieces();
  void make_indexes();

  TokenizerData data_;
  TextTable spelt_{};                 // by id
  TextTable pieces_{};                // by id, where they differ from spelt_; empty elsewhere
  std::vector<bool> is_rewritten_{};  // whether pieces_[id] is to be used
  PrefixIndex all_{};
  PrefixIndex words_{};
  std::array<std::int32_t, 256> byte_tokens_{};
};

}  // namespace rooftile
