// SPDX-License-Identifier: Apache-2.0
// Writes small GGUF files for tests, wrong ones too: nothing is checked, and every number of the
// header can be set.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/model/gguf_metadata.h"

namespace rooftile {

class GgufWriter {
 public:
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;              // of what is written; no metadata entry
  std::optional<std::uint64_t> num_tensors;  // where the header shall lie
  std::optional<std::uint64_t> num_entries;

  template <class T>
  static std::string raw(T number) {
    std::string text(sizeof(T), '\0');
    std::memcpy(text.data(), &number, sizeof(T));
    return text;
  }
  static std::string text(std::string_view value) {
    return raw<std::uint64_t>(value.size()) + std::string(value);
  }

  /// An entry whose value's bytes are given.
  void add(std::string_view key, GgufType type, const std::string& bytes) {
    entries_ += text(key) + raw(static_cast<std::uint32_t>(type)) + bytes;
    ++entries_added_;
  }
  void add_u32(std::string_view key, std::uint32_t value) { add(key, GgufType::u32, raw(value)); }
  void add_f32(std::string_view key, float value) { add(key, GgufType::f32, raw(value)); }
  void add_bool(std::string_view key, bool value) {
    add(key, GgufType::boolean, raw<std::uint8_t>(value ? 1 : 0));
  }
  void add_string(std::string_view key, std::string_view value) {
    add(key, GgufType::string, text(value));
  }
  void add_array(std::string_view key, GgufType type, std::uint64_t count,
                 const std::string& elements) {
    add(key, GgufType::array, raw(static_cast<std::uint32_t>(type)) + raw(count) + elements);
  }

  /// `extents` innermost first, as files have them. The offset, unless given, is the next free one.
  void add_tensor(std::string_view name, const std::vector<std::uint64_t>& extents,
                  std::uint32_t type, const std::string& data,
                  std::optional<std::uint64_t> offset = std::nullopt) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment, '\0');
    infos_ += text(name) + raw(static_cast<std::uint32_t>(extents.size()));
    for (const std::uint64_t extent : extents) infos_ += raw(extent);
    infos_ += raw(type) + raw(offset.value_or(data_.size()));
    data_ += data;
    ++tensors_added_;
  }

  [[nodiscard]] std::string file() const {
    std::string bytes = magic + raw(version) + raw(num_tensors.value_or(tensors_added_)) +
                        raw(num_entries.value_or(entries_added_)) + entries_ + infos_;
    if (!data_.empty()) bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    return bytes + data_;
  }

 private:
  std::string entries_;
  std::string infos_;
  std::string data_;
  std::uint64_t entries_added_ = 0;
  std::uint64_t tensors_added_ = 0;
};

inline std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A model without data worth reading: the smallest that has a config.
inline GgufWriter small_model(const std::string& architecture) {
  GgufWriter writer;
  const std::string prefix = architecture + ".";
  writer.add_string("general.architecture", architecture);
  writer.add_u32(prefix + "block_count", 12);
  writer.add_u32(prefix + "context_length", 4096);
  writer.add_u32(prefix + "embedding_length", 64);
  writer.add_u32(prefix + "feed_forward_length", 128);
  writer.add_u32(prefix + "attention.head_count", 4);
  writer.add_u32(prefix + "attention.head_count_kv", 2);
  writer.add_f32(prefix + "attention.layer_norm_rms_epsilon", 1e-5F);
  writer.add_f32(prefix + "rope.freq_base", 5e5F);
  writer.add_u32("tokenizer.ggml.bos_token_id", 1);
  writer.add_u32("tokenizer.ggml.eos_token_id", 2);
  writer.add_tensor("token_embd.weight", {64, 3}, 8, std::string(3 * 2 * 34, '\1'));
  return writer;
}

}  // namespace rooftile
