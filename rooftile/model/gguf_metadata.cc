// SPDX-License-Identifier: Apache-2.0
// Reading the entries: everything in a value is checked here once, so that the getters need not.
#include "rooftile/model/gguf_metadata.h"

#include <algorithm>
#include <limits>

#include "rooftile/model/byte_reader.h"
#include "rooftile/model/gguf_text.h"

namespace rooftile {
namespace {

// A length of 8 bytes, a key of one, a type of four, a value of one.
constexpr std::uint64_t kLeastEntry = 14;

std::uint64_t bytes_of(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    default:
      return 8;  // the length, for strings
  }
}

GgufType read_type(ByteReader& reader, const std::string& what) {
  const auto number = reader.number<std::uint32_t>(what);
  if (number > static_cast<std::uint32_t>(GgufType::f64))
    reader.fail(what + " has the unknown type " + std::to_string(number) + "; 0 to 12 exist");
  return static_cast<GgufType>(number);
}

GgufValue read_value(ByteReader& reader, const std::string& what) {
  GgufValue value{.type = read_type(reader, what)};
  if (value.type == GgufType::array) {
    value.is_array = true;
    value.type = read_type(reader, what);
    value.count = reader.number<std::uint64_t>(what);
    if (value.type == GgufType::array) reader.fail(what + " is an array of arrays");
    if (value.count > reader.left() / bytes_of(value.type))
      reader.fail(what + " has " + std::to_string(value.count) + " elements in " +
                  std::to_string(reader.left()) + " bytes");
  }
  if (value.type != GgufType::string) {
    value.bytes = reader.take(value.count * bytes_of(value.type), what);
    const bool is_good =
        value.type != GgufType::boolean ||
        std::ranges::all_of(value.bytes, [](std::byte byte) { return byte <= std::byte{1}; });
    if (!is_good) reader.fail(what + " holds a boolean that is neither 0 nor 1");
    return value;
  }
  ByteReader texts = reader;
  for (std::uint64_t i = 0; i < value.count; ++i) (void)read_gguf_text(texts, what);
  value.bytes = reader.take(texts.position() - reader.position(), what);
  return value;
}

}  // namespace

GgufMetadata GgufMetadata::read(ByteReader& reader, std::uint64_t count, const std::string& file) {
  GgufMetadata metadata;
  metadata.file_ = file;
  if (count > reader.left() / kLeastEntry)
    reader.fail("the header counts " + std::to_string(count) + " metadata entries in " +
                std::to_string(reader.left()) + " bytes");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view key = read_gguf_text(reader, "metadata key " + std::to_string(i));
    const std::string what = "metadata key '" + std::string(key.substr(0, 100)) + "'";
    if (key.empty() || key.size() > 65535)
      reader.fail(what + " has " + std::to_string(key.size()) + " bytes; 1 to 65535 are allowed");
    if (!metadata.values_.try_emplace(key, read_value(reader, what)).second)
      reader.fail(what + " stands there twice");
  }
  return metadata;
}

}  // namespace rooftile
