// SPDX-License-Identifier: Apache-2.0
// What a tokenizer is made of, as plain data: filled from the metadata of a GGUF file
// (tokenizer_gguf.h) or from tokenizer.json (tokenizer_json.h), and given to make_tokenizer().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// How a word becomes tokens.
enum class TokenizerKind : unsigned char {
  byte_level_bpe,  // GPT-2: byte pairs merged by rank; tokens are spelt in GPT-2's byte alphabet
  piece_bpe,       // SentencePiece's BPE: characters merged by rank or score, else byte tokens
  unigram,         // the most probable segmentation by scores (Kudo 2018), else byte tokens
};

/// The values are those of GGUF's tokenizer.ggml.token_type.
enum class TokenType : std::uint8_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,       // found in text only when parse_special allows it
  user_defined = 4,  // always found in text, before anything else
  unused = 5,
  byte = 6,  // spelt <0x00> to <0xFF>
};

/// Two tokens that become the token spelt by their concatenation.
struct Merge {
  std::string left;
  std::string right;
};

/// A token found in text before the text is split, with how it is looked for.
struct AddedToken {
  std::int32_t id = 0;
  bool strips_left = false;    // takes the blanks before it along
  bool strips_right = false;   // and after it
  bool is_normalised = false;  // looked for after the normaliser has run, not before
};

/// One step of what is done to the text between added tokens, in the order listed.
struct NormaliseStep {
  enum class Kind : unsigned char { prepend, replace, nfc } kind;
  std::string from{};  // replace: the bytes to look for, not empty
  std::string to{};    // prepend, replace: what to write
};

/// Where the marker of Metaspace is put before a text that lacks it.
enum class MarkerPrefix : unsigned char { never, first, always };

/// One step of splitting text into words, in the order listed. What the regular expression matches
/// and what lies between the matches are pieces, joined or dropped as `behaviour` says.
struct SplitStep {
  enum class Kind : unsigned char { regex, literal, metaspace, prefix_space } kind;
  enum class Behaviour : unsigned char {
    isolated,
    removed,
    merged_with_previous,
    merged_with_next,
    contiguous
  } behaviour = Behaviour::isolated;
  std::string pattern{};     // regex, literal: what to match; metaspace: the marker
  bool is_inverted = false;  // regex, literal: matches and gaps change places
  MarkerPrefix prefix = MarkerPrefix::never;  // metaspace
};

/// What decoding does with a blank at the very start, where encoding may have put one.
enum class LeadingBlank : unsigned char {
  kept,
  stripped,        // any one blank
  marker_stripped  // one that the first token spells with the marker
};

struct TokenizerData {
  TokenizerKind kind = TokenizerKind::byte_level_bpe;
  std::vector<std::string> tokens{};  // by id, the bytes as the file stores them
  std::vector<double> scores{};       // of each token, or empty
  std::vector<TokenType> types{};     // of each token, or empty: all normal
  std::vector<Merge> merges{};        // by rank; empty in piece_bpe: merge by score
  std::vector<AddedToken> added{};    // empty: every control and user_defined token, plainly
  std::vector<NormaliseStep> normaliser{};
  std::vector<SplitStep> splitter{};

  std::int32_t bos_id = -1;  // -1: none, here and below
  std::int32_t eos_id = -1;
  std::int32_t unk_id = -1;
  std::int32_t pad_id = -1;
  std::int32_t eot_id = -1;
  bool add_bos = false;
  bool add_eos = false;
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
  bool has_byte_fallback = false;
  bool fuse_unknown = false;   // neighbours without a token become one unknown token
  std::string space_marker{};  // what stands for a blank within tokens, as U+2581
  LeadingBlank leading_blank = LeadingBlank::kept;
  std::string chat_template{};  // Jinja
};

}  // namespace rooftile
