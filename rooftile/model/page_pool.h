// SPDX-License-Identifier: Apache-2.0
// Which page of a KV cache belongs to whom. Pages are counted, and a full page can be found again
// by the tokens that led to it, so that sequences with a common head share its pages; a page that
// nobody holds keeps its contents until it is needed (Kwon et al., "PagedAttention", 2023; the
// prefix index is vLLM's idea). Holds no tensor: kv_cache.h does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

class PagePool {
 public:
  /// Throws Error(bad_input) unless both are positive and their product fits 31 bits (slots are
  /// i32).
  PagePool(std::int64_t pages, std::int64_t page_size);

  /// A page with one holder; what it held is forgotten. Throws Error(out_of_memory) when all are
  /// held.
  std::int32_t take();

  /// The pages of the longest published head of `tokens`, each with one more holder.
  std::vector<std::int32_t> take_head(std::span<const std::int32_t> tokens);

  /// One holder less.
  void give_back(std::int32_t page);

  /// Makes pages[i], full of `tokens` of its own, findable behind the pages before it. Tokens are
  /// those of the whole sequence; only whole pages are published.
  void publish(std::span<const std::int32_t> pages, std::span<const std::int32_t> tokens);

  /// No page can be found any more; those held stay held.
  void forget_all();

  [[nodiscard]] std::int64_t page_size() const { return page_size_; }
  [[nodiscard]] std::int64_t num_pages() const { return static_cast<std::int64_t>(pages_.size()); }
  /// Pages that somebody holds.
  [[nodiscard]] std::int64_t num_held() const { return held_; }

 private:
  // What leads to a page: the serial number of the page before it (0: none), and its own tokens.
  using Key = std::pair<std::uint64_t, std::vector<std::int32_t>>;
  struct Page {
    std::int64_t holders = 0;
    std::uint64_t serial = 0;  // of this publication; 0: not published
    Key key{};
  };

  void hold(std::int32_t page);
  void forget(Page& page);
  [[nodiscard]] Key key_of(std::uint64_t before, std::span<const std::int32_t> tokens,
                           std::size_t index) const;

  std::int64_t page_size_;
  std::int64_t held_ = 0;
  std::uint64_t last_serial_ = 0;
  std::vector<Page> pages_;
  std::deque<std::int32_t> idle_;  // nobody holds them; the longest idle in front
  std::map<Key, std::int32_t> published_;
};

}  // namespace rooftile
