// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/tokenizer_gguf.h"

#include "rooftile/model/text_pipeline.h"

namespace rooftile {
namespace {

constexpr const char* kMarker = "\xE2\x96\x81";  // U+2581, which SentencePiece writes for a blank

TokenizerData byte_level(const std::string& pre) {
  TokenizerData data;
  data.kind = TokenizerKind::byte_level_bpe;
  data.splitter = splitter_named(pre);
  data.ignore_merges =
      pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3" || pre == "falcon3";
  data.add_bos = data.ignore_merges;
  return data;
}

TokenizerData sentence_pieces(TokenizerKind kind, bool has_prefix) {
  TokenizerData data;
  data.kind = kind;
  data.has_byte_fallback = true;
  data.fuse_unknown = true;
  data.space_marker = kMarker;
  if (has_prefix) data.leading_blank = LeadingBlank::marker_stripped;
  // After each added token too: so llama.cpp and the Llama 2 tokenizer.json do.
  if (has_prefix) data.normaliser.push_back({NormaliseStep::Kind::prepend, {}, kMarker});
  data.normaliser.push_back({NormaliseStep::Kind::replace, " ", kMarker});
  data.add_bos = kind == TokenizerKind::piece_bpe;
  data.add_eos = kind == TokenizerKind::unigram;
  return data;
}

}  // namespace

TokenizerData tokenizer_data_of_gguf_model(const std::string& model, const std::string& pre,
                                           std::optional<bool> add_space_prefix) {
  if (model == "gpt2") return byte_level(pre);
  if (model == "llama")
    return sentence_pieces(TokenizerKind::piece_bpe, add_space_prefix.value_or(true));
  if (model == "t5")
    return sentence_pieces(TokenizerKind::unigram, add_space_prefix.value_or(true));
  fail_input(unknown_name("tokenizer.ggml.model", model, {"gpt2", "llama", "t5"}));
}

Merge merge_of_gguf(const std::string& text) {
  const std::size_t blank = text.find(' ', 1);
  if (text.empty() || blank == std::string::npos || blank + 1 == text.size())
    fail_input("tokenizer.ggml.merges: '" + text + "' is not two tokens with a blank between");
  return {text.substr(0, blank), text.substr(blank + 1)};
}

}  // namespace rooftile
