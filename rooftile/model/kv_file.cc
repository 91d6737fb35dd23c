// SPDX-License-Identifier: Apache-2.0
// A sequence on disk: a header of fixed size, the model's name, the tokens, then for each page
// every layer's keys and values as they lie in the cache; a checksum of all that at the end.
#include <cstring>
#include <optional>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/rng.h"
#include "rooftile/core/dtype.h"
#include "rooftile/model/kv_cache.h"

namespace rooftile {
namespace {

constexpr char kMagic[8] = {'R', 'T', 'K', 'V', '0', '0', '0', '1'};
constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 40;

struct Header {
  char magic[8];
  std::int64_t layers, kv_heads, head_dim, page_size, dtype;
  std::int64_t model_bytes, tokens, pages;
};

template <class T>
void append(std::string& file, const T& value) {
  file.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes the file apart from the front; every length is checked against what is left.
class Reader {
 public:
  Reader(std::string_view rest, const std::string& path) : rest_(rest), path_(path) {}
  std::string_view bytes(std::int64_t count, const char* what) {
    if (count < 0 || static_cast<std::uint64_t>(count) > rest_.size())
      fail(std::string("ends within its ") + what);
    const std::string_view piece = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(piece.size());
    return piece;
  }
  template <class T>
  T value(const char* what) {
    T value;
    std::memcpy(&value, bytes(sizeof value, what).data(), sizeof value);
    return value;
  }
  [[noreturn]] void fail(const std::string& fault) const {
    fail_input("'" + path_ + "' is no saved sequence that can be resumed: it " + fault);
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  const std::string& path_;
};

Header header_of(const KvShape& shape, const std::string& model, const Sequence& sequence) {
  Header header{{},
                shape.layers,
                shape.kv_heads,
                shape.head_dim,
                shape.page_size,
                static_cast<std::int64_t>(shape.dtype),
                static_cast<std::int64_t>(model.size()),
                sequence.length(),
                static_cast<std::int64_t>(sequence.pages.size())};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return header;
}

}  // namespace

template <class Move>
void KvCache::each_piece(std::int32_t page, Move&& move) const {
  for (std::int64_t i = 0; i < 2 * shape_.layers; ++i)
    move(static_cast<char*>(view(i).data) + page * head_bytes(),
         static_cast<std::size_t>(head_bytes()));
}

void KvCache::save(const Sequence& sequence, const std::string& model,
                   const std::string& path) const {
  std::string file;
  append(file, header_of(shape_, model, sequence));
  file += model;
  file.append(reinterpret_cast<const char*>(sequence.tokens.data()), sequence.tokens.size() * 4);
  for (const std::int32_t page : sequence.pages)
    each_piece(page, [&](const char* memory, std::size_t bytes) { file.append(memory, bytes); });
  append(file, hash_bytes(file.data(), file.size()));
  replace_file(path, file);
}

Sequence KvCache::resume(const std::string& model, const std::string& path) {
  const std::optional<std::string> file = read_file(path, kMostFileBytes);
  if (!file) throw Error(ErrorCode::io, "there is no file '" + path + "'");
  Reader reader(*file, path);
  const auto header = reader.value<Header>("header");
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) reader.fail("has another signature");
  const std::string_view whose = reader.bytes(header.model_bytes, "model's name");
  if (whose != model)
    reader.fail("belongs to the model '" + std::string(whose) + "', not to '" + model + "'");
  const KvShape shape{header.layers, header.kv_heads, header.head_dim, header.page_size,
                      shape_.dtype};
  if (shape != shape_ || header.dtype != static_cast<std::int64_t>(shape_.dtype))
    reader.fail("was saved from a cache of another shape or dtype");
  if (header.tokens < 0 || header.tokens > kMostFileBytes ||
      header.pages != pages_for(header.tokens))
    reader.fail("says " + std::to_string(header.tokens) + " tokens in " +
                std::to_string(header.pages) + " pages");
  const std::string_view tokens = reader.bytes(header.tokens * 4, "tokens");
  const std::string_view pages = reader.bytes(
      static_cast<std::int64_t>(std::min<std::uint64_t>(
          static_cast<std::uint64_t>(header.pages) * static_cast<std::uint64_t>(page_bytes()),
          reader.left() + 1)),
      "pages");
  if (reader.value<std::uint64_t>("checksum") !=
          hash_bytes(file->data(), file->size() - sizeof(std::uint64_t)) ||
      reader.left() != 0)
    reader.fail("is damaged: its checksum differs");

  Sequence sequence;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(header.tokens));
  std::memcpy(ids.data(), tokens.data(), tokens.size());
  std::vector<std::int32_t> slots(ids.size());
  extend(sequence, ids, slots);
  const char* from = pages.data();
  for (const std::int32_t page : sequence.pages)
    each_piece(page, [&](char* memory, std::size_t bytes) {
      std::memcpy(memory, from, bytes);
      from += bytes;
    });
  publish(sequence);
  return sequence;
}

}  // namespace rooftile
