// SPDX-License-Identifier: Apache-2.0
// Tokenizers and chat templates as a C library, for comparison with independent implementations
// from Python (compare_tokenizers.py, compare_jinja.py). A call that fails returns null or -1 and
// leaves its message.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "rooftile/model/chat_template.h"
#include "rooftile/model/tokenizer.h"
#include "rooftile/model/tokenizer_gguf.h"
#include "rooftile/model/tokenizer_json.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace rooftile {
namespace {

std::string last_error;
std::string last_text;

template <class Call>
auto guarded(Call call, decltype(call()) failed) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& error) {
    last_error = error.what();
    return failed;
  }
}

// GGUF metadata as a JSON object.
class JsonMetadata {
 public:
  explicit JsonMetadata(const std::string& text) : object_(nlohmann::json::parse(text)) {}
  [[nodiscard]] auto text(const std::string& key) const { return get<std::string>(key); }
  [[nodiscard]] auto flag(const std::string& key) const { return get<bool>(key); }
  [[nodiscard]] auto integer(const std::string& key) const { return get<std::int64_t>(key); }
  [[nodiscard]] auto texts(const std::string& key) const {
    return get<std::vector<std::string>>(key);
  }
  [[nodiscard]] auto numbers(const std::string& key) const { return get<std::vector<double>>(key); }
  [[nodiscard]] auto integers(const std::string& key) const {
    return get<std::vector<std::int64_t>>(key);
  }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> get(const std::string& key) const {
    if (!object_.contains(key)) return std::nullopt;
    return object_.at(key).get<T>();
  }
  nlohmann::json object_;
};

const Tokenizer& of(const void* tokenizer) { return *static_cast<const Tokenizer*>(tokenizer); }

}  // namespace
}  // namespace rooftile

using namespace rooftile;  // NOLINT: this file is the library's other side

EXPORT const char* rooftile_last_error() { return last_error.c_str(); }

/// The text of the last decoding; its length in bytes is what that call returned.
EXPORT const char* rooftile_last_text() { return last_text.data(); }

EXPORT void* rooftile_tokenizer_from_json(const char* json, const char* config) {
  return guarded(
      [&]() -> void* { return make_tokenizer(tokenizer_data_from_json(json, config)).release(); },
      nullptr);
}

EXPORT void* rooftile_tokenizer_from_gguf(const char* metadata) {
  return guarded(
      [&]() -> void* {
        return make_tokenizer(tokenizer_data_from_gguf(JsonMetadata(metadata))).release();
      },
      nullptr);
}

EXPORT void rooftile_tokenizer_free(void* tokenizer) { delete static_cast<Tokenizer*>(tokenizer); }

/// Writes at most `most` ids; returns how many there are.
EXPORT std::int64_t rooftile_encode(const void* tokenizer, const char* text, std::int64_t bytes,
                                    int add_special, int parse_special, std::int32_t* ids,
                                    std::int64_t most) {
  return guarded(
      [&]() -> std::int64_t {
        const auto found = of(tokenizer).encode(
            {text, static_cast<std::size_t>(bytes)},
            {.add_special = add_special != 0, .parse_special = parse_special != 0});
        for (std::size_t i = 0; i < found.size() && static_cast<std::int64_t>(i) < most; ++i)
          ids[i] = found[i];
        return static_cast<std::int64_t>(found.size());
      },
      -1);
}

/// As a whole, or through a StreamDecoder when `is_stream` is set.
EXPORT std::int64_t rooftile_decode(const void* tokenizer, const std::int32_t* ids, std::int64_t n,
                                    int skip_special, int is_stream) {
  return guarded(
      [&]() -> std::int64_t {
        const DecodeOptions options{.skip_special = skip_special != 0};
        const std::span<const std::int32_t> list(ids, static_cast<std::size_t>(n));
        if (is_stream != 0) {
          StreamDecoder decoder(of(tokenizer), options);
          last_text.clear();
          for (const std::int32_t id : list) last_text += decoder.push(id);
          last_text += decoder.finish();
        } else {
          last_text = of(tokenizer).decode(list, options);
        }
        return static_cast<std::int64_t>(last_text.size());
      },
      -1);
}

/// The text is rooftile_last_text(); `variables` is a JSON object.
EXPORT std::int64_t rooftile_render(const char* source, const char* variables, std::int64_t now_s) {
  return guarded(
      [&]() -> std::int64_t {
        last_text = ChatTemplate(source).render_variables(variables, now_s);
        return static_cast<std::int64_t>(last_text.size());
      },
      -1);
}
