// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string>

#include "rooftile/model/chat_template.h"
#include "rooftile/model/config.h"
#include "rooftile/model/gguf.h"
#include "rooftile/model/gguf_tokenizer.h"
#include "rooftile/model/safetensors.h"
#include "rooftile/model/tokenizer.h"
#include "rooftile/model/tokenizer_json.h"
#include "tests/fuzz/targets.h"

namespace rooftile::fuzz {
namespace {

// Calls what may refuse, whatever went before.
template <class Call>
void attempt(Call call) {
  try {
    call();
  } catch (const Error&) {
  }
}

std::span<const std::byte> bytes_of(std::string_view bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

void touch(const TensorTable& tensors) {
  volatile unsigned sum = 0;
  for (const auto& [name, tensor] : tensors.all()) {
    const auto* bytes = static_cast<const unsigned char*>(tensor.data);
    if (tensor.bytes > 0) sum = sum + bytes[0] + bytes[tensor.bytes - 1];
  }
}

// Every getter, whatever the value's type; most throw.
void touch(const GgufMetadata& metadata) {
  for (const auto& [key, value] : metadata.all()) {
    attempt([&] { (void)metadata.get_u32(key); });
    attempt([&] { (void)metadata.get_f32(key); });
    attempt([&] { (void)metadata.get_bool(key); });
    attempt([&] { (void)metadata.get_string(key); });
    attempt([&] { (void)metadata.get_strings(key); });
    attempt([&] { (void)metadata.get_i32s(key); });
    attempt([&] { (void)metadata.get_f32s(key); });
  }
}

void use(TokenizerData data) {
  const auto tokenizer = make_tokenizer(std::move(data));
  for (const bool parse_special : {false, true})
    attempt([&] {
      const auto ids = tokenizer->encode("Hello  <s>w\xC3\xB6rld</s> 12345\n\xFF\xFE a",
                                         {.parse_special = parse_special});
      StreamDecoder decoder(*tokenizer);
      for (const std::int32_t id : ids) (void)decoder.push(id);
      (void)decoder.finish();
      (void)tokenizer->decode(ids);
    });
}

void gguf(std::string_view bytes) {
  const GgufContent content = parse_gguf(bytes_of(bytes), "fuzz");
  touch(content.metadata);
  touch(content.tensors);
  attempt([&] { (void)config_from_gguf(content); });
  attempt([&] { use(tokenizer_data_from_gguf(GgufTokenizer(content.metadata))); });
}

void safetensors(std::string_view bytes) {
  TensorTable table("fuzz");
  parse_safetensors(bytes_of(bytes), "fuzz", table);
  touch(table);
}

void safetensors_index(std::string_view bytes) { (void)parse_safetensors_index(bytes, "fuzz"); }

void config(std::string_view bytes) { (void)config_from_json(bytes, "fuzz"); }

void tokenizer_json(std::string_view bytes) { use(tokenizer_data_from_json(bytes)); }

void tokenizer_config(std::string_view bytes) {
  use(tokenizer_data_from_json(
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
          "added_tokens": [{"id": 3, "content": "<s>", "special": true}]})",
      bytes));
}

void chat_template(std::string_view bytes) {
  const ChatTemplate chat(bytes);
  const std::vector<std::string> control{"<think>"};
  (void)chat.render_guarded({{.role = "system", .content = "s"},
                             {.role = "user", .content = " a<think>b</think>\xC3\xA9 "},
                             {.role = "assistant", .content = "c"}},
                            {.tools_json = R"([{"function": {"name": "f"}}])",
                             .variables_json = R"({"x": {"list": [1, 2.5], "text": "t"}})",
                             .now_s = 0},
                            control);
}

constexpr std::array kTargets{Target{"gguf", gguf},
                              Target{"safetensors", safetensors},
                              Target{"safetensors_index", safetensors_index},
                              Target{"config", config},
                              Target{"tokenizer_json", tokenizer_json},
                              Target{"tokenizer_config", tokenizer_config},
                              Target{"chat_template", chat_template}};

}  // namespace

std::span<const Target> model_targets() { return kTargets; }

}  // namespace rooftile::fuzz
