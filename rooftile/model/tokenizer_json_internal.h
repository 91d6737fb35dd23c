// SPDX-License-Identifier: Apache-2.0
// The fields of tokenizer.json, each read with an error that names it; and the two files that share
// the work (tokenizer_json.cc: the model and its tokens, tokenizer_json_steps.cc: the steps).
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "rooftile/base/error.h"
#include "rooftile/model/tokenizer_data.h"

namespace rooftile::tokenizer_json {

// Why not rooftile::Json: that one keeps the order of keys by searching all before it, which takes
// the square of a vocabulary's size.
using Object = nlohmann::json;

/// The member `key`; null when it is absent.
inline const Object& member(const Object& object, const char* key) {
  static const Object null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

[[noreturn]] inline void fail_field(const std::string& where, const Object& given,
                                    const std::string& allowed) {
  const std::string text = given.dump(-1, ' ', false, Object::error_handler_t::replace);
  fail_input(where + " is " + text.substr(0, 60) + "; allowed: " + allowed);
}

inline std::string text_of(const Object& value, const std::string& where) {
  if (!value.is_string()) fail_field(where, value, "a string");
  return value.get<std::string>();
}

inline bool flag_of(const Object& object, const char* key, bool otherwise) {
  const Object& value = member(object, key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) fail_field(key, value, "true, false");
  return value.get<bool>();
}

inline std::int32_t id_of(const Object& value, const std::string& where) {
  constexpr std::int64_t kMost = INT32_MAX;
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
      value.get<std::int64_t>() > kMost)
    fail_field(where, value, "a token id");
  return value.get<std::int32_t>();
}

/// Reads normalizer, pre_tokenizer and decoder into `data`.
void read_steps(TokenizerData& data, const Object& file);

/// Whether the file's text goes through GPT-2's byte alphabet.
bool is_byte_level(const Object& file);

}  // namespace rooftile::tokenizer_json
