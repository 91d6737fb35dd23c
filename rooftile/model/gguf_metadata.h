// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF file: typed values by key, left where they lie in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

class ByteReader;

/// As numbered in files.
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64,
};

/// One value, or an array of values of one type.
struct GgufValue {
  GgufType type = GgufType::u8;  // of the elements, where it is an array
  bool is_array = false;
  std::uint64_t count = 1;
  std::span<const std::byte> bytes{};
};

/// Each getter throws Error(bad_input) that names the file and key when the key is missing, has
/// another type (with both types), or its number does not fit. `find_` getters give nothing when
/// the key is missing, and throw for the rest. Integers are taken from every integer type, f32 from
/// f64 too. Texts point into the file.
class GgufMetadata {
 public:
  GgufMetadata() = default;

  /// Reads `count` entries; every value is checked to lie within the file. Arrays of arrays are
  /// refused: no model needs them. Throws Error(bad_input).
  static GgufMetadata read(ByteReader& reader, std::uint64_t count, const std::string& file);

  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }
  [[nodiscard]] std::uint32_t get_u32(std::string_view key) const;
  [[nodiscard]] float get_f32(std::string_view key) const;
  [[nodiscard]] bool get_bool(std::string_view key) const;
  [[nodiscard]] std::string_view get_string(std::string_view key) const;
  [[nodiscard]] std::vector<std::string_view> get_strings(std::string_view key) const;
  [[nodiscard]] std::vector<std::int32_t> get_i32s(std::string_view key) const;
  [[nodiscard]] std::vector<float> get_f32s(std::string_view key) const;

  [[nodiscard]] std::optional<std::uint32_t> find_u32(std::string_view key) const;
  [[nodiscard]] std::optional<float> find_f32(std::string_view key) const;
  [[nodiscard]] std::optional<bool> find_bool(std::string_view key) const;
  [[nodiscard]] std::optional<std::string_view> find_string(std::string_view key) const;

  /// All of it, by key.
  [[nodiscard]] const std::map<std::string_view, GgufValue>& all() const { return values_; }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  [[nodiscard]] const GgufValue& value(std::string_view key) const;
  [[noreturn]] void fail_type(std::string_view key, const char* expected) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::uint64_t index, std::int64_t least,
                                     std::int64_t most, const char* expected) const;
  [[nodiscard]] float number(std::string_view key, std::uint64_t index, const char* expected) const;
  const GgufValue& expect(std::string_view key, bool is_array, const char* expected) const;

  std::string file_;
  std::map<std::string_view, GgufValue> values_;
};

}  // namespace rooftile
