// SPDX-License-Identifier: Apache-2.0
// TokenizerData from the metadata of a GGUF file. The file's reader is a parameter: anything with
//
//   std::optional<std::string>              text(key)        a string
//   std::optional<bool>                     flag(key)        a bool
//   std::optional<std::int64_t>             integer(key)     any integer type
//   std::optional<std::vector<std::string>> texts(key)       an array of strings
//   std::optional<std::vector<double>>      numbers(key)     an array of f32
//   std::optional<std::vector<std::int64_t>> integers(key)   an array of any integer type
//
// each nothing when the key is absent, and an Error when its type is another. The keys, from the
// GGUF specification of ggml:
//
//   tokenizer.ggml.model              "gpt2" | "llama" | "t5"                   required
//   tokenizer.ggml.tokens             strings                                   required
//   tokenizer.ggml.token_type         integers (TokenType)
//   tokenizer.ggml.scores             f32; required for llama and t5
//   tokenizer.ggml.merges             "left right" strings; required for gpt2
//   tokenizer.ggml.pre                gpt2: a name that splitter_named() knows; absent: "default"
//   tokenizer.ggml.{bos,eos,unknown,padding,eot}_token_id       integers
//   tokenizer.ggml.{add_bos_token,add_eos_token,add_space_prefix}   bools; absent: as model and pre
//   say tokenizer.chat_template           Jinja
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/model/tokenizer_data.h"

namespace rooftile {

/// What follows from tokenizer.ggml.model and tokenizer.ggml.pre alone: kind, splitter, normaliser,
/// fallback and what is added by default. Throws Error(bad_input) for names that are not known.
ROOFTILE_API TokenizerData tokenizer_data_of_gguf_model(const std::string& model,
                                                        const std::string& pre,
                                                        std::optional<bool> add_space_prefix);

/// "left right" as a merge; the tokens have no blanks but the one between them (which is the first
/// after at least one byte). Throws Error(bad_input) when there is none.
ROOFTILE_API Merge merge_of_gguf(const std::string& text);

/// Throws Error(bad_input) for keys that are missing or have unknown values.
template <class Metadata>
TokenizerData tokenizer_data_from_gguf(const Metadata& metadata) {
  const std::string prefix = "tokenizer.ggml.";
  const auto required = [&](auto value, const char* key) {
    if (!value) fail_input("GGUF metadata lacks " + prefix + key);
    return *std::move(value);
  };
  TokenizerData data =
      tokenizer_data_of_gguf_model(required(metadata.text(prefix + "model"), "model"),
                                   metadata.text(prefix + "pre").value_or("default"),
                                   metadata.flag(prefix + "add_space_prefix"));
  data.tokens = required(metadata.texts(prefix + "tokens"), "tokens");
  if (auto scores = metadata.numbers(prefix + "scores")) data.scores = *std::move(scores);
  if (const auto types = metadata.integers(prefix + "token_type"))
    for (const std::int64_t type : *types)
      data.types.push_back(type < 0 || type > 6 ? TokenType{255} : static_cast<TokenType>(type));
  if (data.kind == TokenizerKind::byte_level_bpe)
    for (const std::string& merge : required(metadata.texts(prefix + "merges"), "merges"))
      data.merges.push_back(merge_of_gguf(merge));
  const auto id = [&](const char* key, std::int32_t& field) {
    const auto value = metadata.integer(prefix + key);
    // Why -2: out of range for the check in make_tokenizer(), which names the field.
    if (value) field = *value < -1 || *value > INT32_MAX ? -2 : static_cast<std::int32_t>(*value);
  };
  id("bos_token_id", data.bos_id);
  id("eos_token_id", data.eos_id);
  id("unknown_token_id", data.unk_id);
  id("padding_token_id", data.pad_id);
  id("eot_token_id", data.eot_id);
  data.add_bos = metadata.flag(prefix + "add_bos_token").value_or(data.add_bos && data.bos_id >= 0);
  data.add_eos = metadata.flag(prefix + "add_eos_token").value_or(data.add_eos && data.eos_id >= 0);
  data.chat_template = metadata.text("tokenizer.chat_template").value_or("");
  return data;
}

}  // namespace rooftile
