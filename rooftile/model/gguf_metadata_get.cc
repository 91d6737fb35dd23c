// SPDX-License-Identifier: Apache-2.0
// The typed getters of the metadata.
#include <limits>

#include "rooftile/model/gguf_metadata.h"
#include "rooftile/model/gguf_text.h"

namespace rooftile {
namespace {

constexpr const char* kTypeNames[]{"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                   "bool", "string", "array", "u64", "i64", "f64"};

std::string type_text(const GgufValue& value) {
  const std::string type = kTypeNames[static_cast<std::size_t>(value.type)];
  return value.is_array ? "an array of " + std::to_string(value.count) + " " + type : type;
}

template <class T>
T element(const GgufValue& value, std::uint64_t index) {
  T number;
  std::memcpy(&number, value.bytes.data() + index * sizeof(T), sizeof(T));
  return number;
}

bool is_integer(GgufType type) {
  return type != GgufType::f32 && type != GgufType::f64 && type != GgufType::boolean &&
         type != GgufType::string;
}

// Of any integer type; u64 beyond 63 bits as the greatest i64.
std::optional<std::int64_t> integer_of(const GgufValue& value, std::uint64_t index) {
  switch (value.type) {
    case GgufType::u8:
      return element<std::uint8_t>(value, index);
    case GgufType::i8:
      return element<std::int8_t>(value, index);
    case GgufType::u16:
      return element<std::uint16_t>(value, index);
    case GgufType::i16:
      return element<std::int16_t>(value, index);
    case GgufType::u32:
      return element<std::uint32_t>(value, index);
    case GgufType::i32:
      return element<std::int32_t>(value, index);
    case GgufType::i64:
      return element<std::int64_t>(value, index);
    case GgufType::u64: {
      const auto number = element<std::uint64_t>(value, index);
      constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
      return number > std::uint64_t{kMost} ? kMost : static_cast<std::int64_t>(number);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

const GgufValue& GgufMetadata::value(std::string_view key) const {
  const auto place = values_.find(key);
  if (place == values_.end())
    fail_input(file_ + ": metadata key '" + std::string(key) + "' is missing");
  return place->second;
}

void GgufMetadata::fail_type(std::string_view key, const char* expected) const {
  fail_input(file_ + ": metadata key '" + std::string(key) + "' is " + type_text(value(key)) +
             ", expected " + expected);
}

const GgufValue& GgufMetadata::expect(std::string_view key, bool is_array,
                                      const char* expected) const {
  const GgufValue& found = value(key);
  if (found.is_array != is_array) fail_type(key, expected);
  return found;
}

std::int64_t GgufMetadata::integer(std::string_view key, std::uint64_t index, std::int64_t least,
                                   std::int64_t most, const char* expected) const {
  const std::optional<std::int64_t> number = integer_of(value(key), index);
  if (!number) fail_type(key, expected);
  if (*number < least || *number > most)
    fail_input(file_ + ": metadata key '" + std::string(key) + "' holds " +
               std::to_string(*number) + ", expected " + std::to_string(least) + " to " +
               std::to_string(most));
  return *number;
}

float GgufMetadata::number(std::string_view key, std::uint64_t index, const char* expected) const {
  const GgufValue& found = value(key);
  if (found.type == GgufType::f32) return element<float>(found, index);
  if (found.type != GgufType::f64) fail_type(key, expected);
  return static_cast<float>(element<double>(found, index));
}

std::uint32_t GgufMetadata::get_u32(std::string_view key) const {
  expect(key, false, "u32");
  return static_cast<std::uint32_t>(
      integer(key, 0, 0, std::numeric_limits<std::uint32_t>::max(), "u32"));
}

float GgufMetadata::get_f32(std::string_view key) const {
  expect(key, false, "f32");
  return number(key, 0, "f32");
}

bool GgufMetadata::get_bool(std::string_view key) const {
  const GgufValue& found = expect(key, false, "bool");
  if (found.type != GgufType::boolean) fail_type(key, "bool");
  return found.bytes[0] == std::byte{1};
}

std::string_view GgufMetadata::get_string(std::string_view key) const {
  const GgufValue& found = expect(key, false, "string");
  if (found.type != GgufType::string) fail_type(key, "string");
  ByteReader reader(found.bytes, file_);
  return read_gguf_text(reader, key);
}

std::vector<std::string_view> GgufMetadata::get_strings(std::string_view key) const {
  const GgufValue& found = expect(key, true, "an array of string");
  if (found.type != GgufType::string) fail_type(key, "an array of string");
  ByteReader reader(found.bytes, file_);
  std::vector<std::string_view> texts;
  texts.reserve(found.count);
  for (std::uint64_t i = 0; i < found.count; ++i) texts.push_back(read_gguf_text(reader, key));
  return texts;
}

std::vector<std::int32_t> GgufMetadata::get_i32s(std::string_view key) const {
  const GgufValue& found = expect(key, true, "an array of i32");
  if (!is_integer(found.type)) fail_type(key, "an array of i32");
  std::vector<std::int32_t> numbers;
  numbers.reserve(found.count);
  for (std::uint64_t i = 0; i < found.count; ++i)
    numbers.push_back(static_cast<std::int32_t>(
        integer(key, i, std::numeric_limits<std::int32_t>::min(),
                std::numeric_limits<std::int32_t>::max(), "an array of i32")));
  return numbers;
}

std::vector<float> GgufMetadata::get_f32s(std::string_view key) const {
  const GgufValue& found = expect(key, true, "an array of f32");
  if (found.type != GgufType::f32 && found.type != GgufType::f64) fail_type(key, "an array of f32");
  std::vector<float> numbers;
  numbers.reserve(found.count);
  for (std::uint64_t i = 0; i < found.count; ++i)
    numbers.push_back(number(key, i, "an array of f32"));
  return numbers;
}

std::optional<std::uint32_t> GgufMetadata::find_u32(std::string_view key) const {
  return has(key) ? std::optional(get_u32(key)) : std::nullopt;
}

std::optional<float> GgufMetadata::find_f32(std::string_view key) const {
  return has(key) ? std::optional(get_f32(key)) : std::nullopt;
}

std::optional<bool> GgufMetadata::find_bool(std::string_view key) const {
  return has(key) ? std::optional(get_bool(key)) : std::nullopt;
}

std::optional<std::string_view> GgufMetadata::find_string(std::string_view key) const {
  return has(key) ? std::optional(get_string(key)) : std::nullopt;
}

}  // namespace rooftile
