// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/kv_cache.h"

#include <algorithm>
#include <set>

#include "rooftile/base/error.h"
#include "rooftile/core/dtype.h"

namespace rooftile {
namespace {

// The bytes of a whole cache, checked: a shape comes from a file.
std::int64_t cache_bytes(const KvShape& shape, std::int64_t pages) {
  if (shape.layers < 1 || shape.kv_heads < 1 || shape.head_dim < 1)
    fail_input("a KV cache needs at least one layer, head and dimension");
  std::int64_t bytes = bytes_of(shape.dtype, 2);
  for (const std::int64_t factor :
       {shape.layers, shape.kv_heads, shape.head_dim, shape.page_size, pages})
    if (__builtin_mul_overflow(bytes, factor, &bytes))
      throw Error(ErrorCode::out_of_memory, "the KV cache would exceed 2^63 bytes");
  return bytes;
}

}  // namespace

KvCache::KvCache(Device& device, const KvShape& shape, std::int64_t pages)
    : shape_(shape), pool_(pages, shape.page_size), memory_(device, cache_bytes(shape, pages)) {}

std::int64_t KvCache::head_bytes() const {
  return bytes_of(shape_.dtype, shape_.kv_heads * shape_.page_size * shape_.head_dim);
}

TensorView KvCache::view(std::int64_t index) const {
  const std::int64_t page = shape_.kv_heads * shape_.page_size * shape_.head_dim;
  return {.data = static_cast<char*>(memory_.data()) + index * pool_.num_pages() * head_bytes(),
          .dtype = shape_.dtype,
          .shape = {pool_.num_pages(), shape_.page_size, shape_.kv_heads, shape_.head_dim},
          .strides = {page, shape_.head_dim, shape_.page_size * shape_.head_dim, 1}};
}

Sequence KvCache::start(std::span<const std::int32_t> tokens) {
  Sequence sequence;
  if (tokens.empty()) return sequence;
  sequence.pages = pool_.take_head(tokens.first(tokens.size() - 1));
  const auto cached = sequence.pages.size() * static_cast<std::size_t>(shape_.page_size);
  sequence.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(cached));
  return sequence;
}

void KvCache::extend(Sequence& sequence, std::span<const std::int32_t> tokens,
                     std::span<std::int32_t> slots) {
  if (slots.size() != tokens.size())
    throw Error(ErrorCode::internal, "a KV cache was given as many slots as not tokens");
  const std::size_t held = sequence.pages.size();
  const auto needed = static_cast<std::size_t>(
      pages_for(sequence.length() + static_cast<std::int64_t>(tokens.size())));
  try {
    while (sequence.pages.size() < needed) sequence.pages.push_back(pool_.take());
  } catch (...) {
    for (; sequence.pages.size() > held; sequence.pages.pop_back())
      pool_.give_back(sequence.pages.back());
    throw;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t at = sequence.length();
    const std::int32_t page = sequence.pages[static_cast<std::size_t>(at / shape_.page_size)];
    slots[i] = static_cast<std::int32_t>(page * shape_.page_size + at % shape_.page_size);
    sequence.tokens.push_back(tokens[i]);
  }
}

void KvCache::release(Sequence& sequence) {
  for (const std::int32_t page : sequence.pages) pool_.give_back(page);
  sequence = {};
}

double KvCache::waste(std::span<const Sequence* const> sequences) const {
  std::set<std::int32_t> pages;
  std::int64_t empty = 0;
  for (const Sequence* sequence : sequences) {
    pages.insert(sequence->pages.begin(), sequence->pages.end());
    empty +=
        static_cast<std::int64_t>(sequence->pages.size()) * shape_.page_size - sequence->length();
  }
  if (pages.empty()) return 0;
  return static_cast<double>(empty) /
         static_cast<double>(static_cast<std::int64_t>(pages.size()) * shape_.page_size);
}

}  // namespace rooftile
