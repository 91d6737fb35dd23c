// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF file as the reader that tokenizer_data_from_gguf() asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/model/gguf_metadata.h"
#include "rooftile/model/tokenizer_gguf.h"

namespace rooftile {

/// Refers to `metadata`.
class GgufTokenizer {
 public:
  explicit GgufTokenizer(const GgufMetadata& metadata) : metadata_(metadata) {}

  [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
    const auto found = metadata_.find_string(key);
    return found ? std::optional(std::string(*found)) : std::nullopt;
  }
  [[nodiscard]] std::optional<bool> flag(const std::string& key) const {
    return metadata_.find_bool(key);
  }
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const {
    return metadata_.find_u32(key);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_strings(key);
    return std::vector<std::string>(found.begin(), found.end());
  }
  [[nodiscard]] std::optional<std::vector<double>> numbers(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_f32s(key);
    return std::vector<double>(found.begin(), found.end());
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const std::string& key) const {
    if (!metadata_.has(key)) return std::nullopt;
    const auto found = metadata_.get_i32s(key);
    return std::vector<std::int64_t>(found.begin(), found.end());
  }

 private:
  const GgufMetadata& metadata_;
};

}  // namespace rooftile
