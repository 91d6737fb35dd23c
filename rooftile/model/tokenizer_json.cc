// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/tokenizer_json.h"

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/json.h"
#include "rooftile/model/tokenizer_json_internal.h"

namespace rooftile {
namespace tokenizer_json {
namespace {

constexpr std::int64_t kMostFileBytes = 256 << 20;
constexpr std::size_t kMostUnnamedIds = 1 << 16;  // real files leave a few gaps

using Ids = std::unordered_map<std::string, std::int32_t>;

Object parsed(std::string_view text, const char* what) {
  check_json_depth(text);
  Object object = Object::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) fail_input(std::string(what) + " is not valid JSON (or not UTF-8)");
  if (!object.is_object()) fail_field(what, object, "an object");
  return object;
}

Ids ids_of(const TokenizerData& data) {
  Ids ids;
  for (std::size_t i = 0; i < data.tokens.size(); ++i)
    ids.try_emplace(data.tokens[i], static_cast<std::int32_t>(i));
  return ids;
}

std::int32_t find(const Ids& ids, const std::string& token) {
  const auto found = ids.find(token);
  return found == ids.end() ? -1 : found->second;
}

// Puts `token` at `id`. Tokens are entries of a list, so that no small file can ask for much
// memory.
void put_token(TokenizerData& data, std::int32_t id, const std::string& token,
               std::size_t most_tokens) {
  const auto at = static_cast<std::size_t>(id);
  if (at >= most_tokens + kMostUnnamedIds)
    fail_input("token '" + token + "' has id " + std::to_string(id) + ", but the file names only " +
               std::to_string(most_tokens) + " tokens");
  if (at >= data.tokens.size()) {
    data.tokens.resize(at + 1);
    data.types.resize(at + 1, TokenType::unused);
  }
  data.tokens[at] = token;
}

Merge merge_of(const Object& value, std::size_t rank) {
  const std::string where = "model.merges[" + std::to_string(rank) + "]";
  if (value.is_array() && value.size() == 2)
    return {text_of(value[0], where), text_of(value[1], where)};
  const std::string text = text_of(value, where);
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos)
    fail_field(where, value, "two tokens, as a list or with one blank between");
  return {text.substr(0, blank), text.substr(blank + 1)};
}

void read_bpe(TokenizerData& data, const Object& model, std::size_t most_tokens) {
  const Object& vocab = member(model, "vocab");
  if (!vocab.is_object()) fail_field("model.vocab", vocab, "an object of ids by token");
  for (const auto& [token, id] : vocab.items()) {
    const std::int32_t at = id_of(id, "model.vocab['" + token + "']");
    put_token(data, at, token, most_tokens);
    data.types[static_cast<std::size_t>(at)] = TokenType::normal;
  }
  const Object& merges = member(model, "merges");
  if (!merges.is_array()) fail_field("model.merges", merges, "a list");
  for (const Object& merge : merges) data.merges.push_back(merge_of(merge, data.merges.size()));
  data.has_byte_fallback = flag_of(model, "byte_fallback", false);
  data.fuse_unknown = flag_of(model, "fuse_unk", false);
  data.ignore_merges = flag_of(model, "ignore_merges", false);
  if (const Object& unknown = member(model, "unk_token"); !unknown.is_null()) {
    const Object& id = member(vocab, text_of(unknown, "model.unk_token").c_str());
    if (!id.is_null()) data.unk_id = id.get<std::int32_t>();
  }
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Object& value = member(model, key);
    if (!value.is_null() && value != "" && value != 0)
      throw Error(ErrorCode::unsupported, "model." + std::string(key) + " is given; allowed: null");
  }
}

void read_unigram(TokenizerData& data, const Object& model) {
  data.kind = TokenizerKind::unigram;
  const Object& vocab = member(model, "vocab");
  if (!vocab.is_array()) fail_field("model.vocab", vocab, "a list of [token, score]");
  for (const Object& entry : vocab) {
    const std::string where = "model.vocab[" + std::to_string(data.tokens.size()) + "]";
    if (!entry.is_array() || entry.size() != 2 || !entry[1].is_number())
      fail_field(where, entry, "[token, score]");
    data.tokens.push_back(text_of(entry[0], where));
    data.scores.push_back(entry[1].get<double>());
  }
  data.types.assign(data.tokens.size(), TokenType::normal);
  if (const Object& unknown = member(model, "unk_id"); !unknown.is_null())
    data.unk_id = id_of(unknown, "model.unk_id");
  data.has_byte_fallback = flag_of(model, "byte_fallback", false);
  data.fuse_unknown = true;
}

void read_added_tokens(TokenizerData& data, const Object& file, std::size_t most_tokens) {
  Ids ids = ids_of(data);
  for (const Object& token : member(file, "added_tokens")) {
    const std::string content = text_of(member(token, "content"), "added_tokens[].content");
    const std::int32_t id = id_of(member(token, "id"), "added_tokens['" + content + "'].id");
    if (flag_of(token, "single_word", false))
      throw Error(ErrorCode::unsupported, "added_tokens['" + content + "'].single_word is true");
    const std::int32_t known = ids.try_emplace(content, id).first->second;
    if (known != id)
      fail_input("added_tokens['" + content + "'].id is " + std::to_string(id) +
                 ", but the token is at " + std::to_string(known) + " too");
    put_token(data, id, content, most_tokens);
    const bool is_control = flag_of(token, "special", false);
    data.types[static_cast<std::size_t>(id)] =
        is_control ? TokenType::control : TokenType::user_defined;
    data.added.push_back({.id = id,
                          .strips_left = flag_of(token, "lstrip", false),
                          .strips_right = flag_of(token, "rstrip", false),
                          .is_normalised = flag_of(token, "normalized", !is_control)});
  }
  if (!data.scores.empty()) data.scores.resize(data.tokens.size(), 0);
}

// TemplateProcessing for one text: [token] text [token].
void read_template(TokenizerData& data, const Object& processor) {
  bool is_after = false;
  for (const Object& part : member(processor, "single")) {
    const Object& special = member(part, "SpecialToken");
    if (special.is_null()) {
      is_after = true;
      continue;
    }
    const std::string name = text_of(member(special, "id"), "post_processor.single[].id");
    const Object& ids = member(member(member(processor, "special_tokens"), name.c_str()), "ids");
    bool& adds = is_after ? data.add_eos : data.add_bos;
    if (adds || !ids.is_array() || ids.size() != 1)
      throw Error(ErrorCode::unsupported,
                  "post_processor: '" + name + "'; allowed: one token before the text, one after");
    adds = true;
    (is_after ? data.eos_id : data.bos_id) = id_of(ids[0], "post_processor '" + name + "'");
  }
}

void read_post_processor(TokenizerData& data, const Object& processor, int depth = 0) {
  if (processor.is_null()) return;
  const std::string type = text_of(member(processor, "type"), "post_processor.type");
  if (type == "TemplateProcessing") {
    read_template(data, processor);
  } else if (type == "Sequence" && depth == 0) {
    for (const Object& child : member(processor, "processors"))
      read_post_processor(data, child, depth + 1);
  } else if (type != "ByteLevel") {
    throw Error(ErrorCode::unsupported,
                "post_processor: " +
                    unknown_name("type", type, {"Sequence", "TemplateProcessing", "ByteLevel"}));
  }
}

// tokenizer_config.json: names of special tokens, as a string or as an object with its content.
void read_config(TokenizerData& data, const Object& config) {
  const Ids ids = ids_of(data);
  const auto id = [&](const char* key, std::int32_t& field) {
    const Object& value = member(config, key);
    const Object& content = value.is_object() ? member(value, "content") : value;
    if (content.is_string()) field = find(ids, content.get<std::string>());
  };
  if (!data.add_bos) id("bos_token", data.bos_id);
  if (!data.add_eos) id("eos_token", data.eos_id);
  if (data.unk_id < 0) id("unk_token", data.unk_id);
  id("pad_token", data.pad_id);
  const Object& chat = member(config, "chat_template");
  if (chat.is_string()) data.chat_template = chat.get<std::string>();
  if (!chat.is_array()) return;
  for (const Object& named : chat)
    if (member(named, "name") == "default")
      data.chat_template = text_of(member(named, "template"), "chat_template[].template");
}

}  // namespace
}  // namespace tokenizer_json

TokenizerData tokenizer_data_from_json(std::string_view json, std::string_view config) {
  using namespace tokenizer_json;
  const Object file = parsed(json, "tokenizer.json");
  const Object& model = member(file, "model");
  if (!model.is_object()) fail_field("model", model, "an object");
  // Every token is one entry of a list, so ids of a file that names fewer are wrong.
  const std::size_t most_tokens =
      member(model, "vocab").size() + member(file, "added_tokens").size();
  TokenizerData data;
  data.kind = is_byte_level(file) ? TokenizerKind::byte_level_bpe : TokenizerKind::piece_bpe;
  const std::string type = member(model, "type").is_null()
                               ? std::string("BPE")  // older files do not say
                               : text_of(member(model, "type"), "model.type");
  if (type == "BPE") {
    read_bpe(data, model, most_tokens);
  } else if (type == "Unigram") {
    read_unigram(data, model);
  } else {
    throw Error(ErrorCode::unsupported, unknown_name("model.type", type, {"BPE", "Unigram"}));
  }
  read_added_tokens(data, file, most_tokens);
  read_steps(data, file);
  read_post_processor(data, member(file, "post_processor"));
  if (!config.empty()) read_config(data, parsed(config, "tokenizer_config.json"));
  return data;
}

TokenizerData load_tokenizer_json(const std::string& path) {
  const auto json = read_file(path, tokenizer_json::kMostFileBytes);
  if (!json) throw Error(ErrorCode::io, "there is no file '" + path + "'");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const auto beside = [&](const char* name) {
    return read_file((folder / name).string(), tokenizer_json::kMostFileBytes);
  };
  try {
    TokenizerData data =
        tokenizer_data_from_json(*json, beside("tokenizer_config.json").value_or(""));
    if (auto chat = beside("chat_template.jinja")) data.chat_template = *std::move(chat);
    return data;
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace rooftile
