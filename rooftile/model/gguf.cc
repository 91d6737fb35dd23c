// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/gguf.h"

#include <bit>
#include <cstring>
#include <utility>

#include "rooftile/model/byte_reader.h"
#include "rooftile/model/gguf_tensors.h"

namespace rooftile {
namespace {

std::uint32_t read_version(ByteReader& reader) {
  if (reader.left() < 4 || std::memcmp(reader.take(4, "the magic").data(), "GGUF", 4) != 0)
    reader.fail("not a GGUF file: it does not begin with 'GGUF'");
  const auto version = reader.number<std::uint32_t>("the version");
  if (version > 0xffffff && __builtin_bswap32(version) < 256)
    reader.fail("the byte order is big-endian; only little-endian files can be read");
  if (version != 2 && version != 3)
    reader.fail("GGUF version " + std::to_string(version) + "; versions 2 and 3 can be read");
  return version;
}

std::uint64_t alignment_of(const GgufMetadata& metadata, const ByteReader& reader) {
  constexpr const char* kKey = "general.alignment";
  const auto entry = metadata.all().find(kKey);
  if (entry == metadata.all().end()) return 32;
  if (entry->second.type != GgufType::u32 || entry->second.is_array)
    reader.fail(std::string("metadata key '") + kKey + "' must be u32");
  const std::uint32_t alignment = metadata.get_u32(kKey);
  if (!std::has_single_bit(alignment) || alignment > (1U << 20))
    reader.fail(std::string("metadata key '") + kKey + "' is " + std::to_string(alignment) +
                ", expected a power of two to 2^20");
  return alignment;
}

}  // namespace

GgufContent parse_gguf(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  GgufContent content;
  content.version = read_version(reader);
  const auto num_tensors = reader.number<std::uint64_t>("the number of tensors");
  const auto num_entries = reader.number<std::uint64_t>("the number of metadata entries");
  content.metadata = GgufMetadata::read(reader, num_entries, name);
  content.tensors =
      read_gguf_tensors(reader, num_tensors, alignment_of(content.metadata, reader), bytes, name);
  return content;
}

GgufFile GgufFile::open(const std::string& path) {
  MappedFile file(path);
  GgufContent content = parse_gguf(file.bytes(), path);
  return {std::move(file), std::move(content)};
}

}  // namespace rooftile
