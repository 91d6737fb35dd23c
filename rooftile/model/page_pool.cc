// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/page_pool.h"

#include <algorithm>
#include <limits>
#include <string>

#include "rooftile/base/error.h"

namespace rooftile {

PagePool::PagePool(std::int64_t pages, std::int64_t page_size) : page_size_(page_size) {
  if (pages < 1 || page_size < 1 || pages > std::numeric_limits<std::int32_t>::max() / page_size)
    fail_input("a KV cache of " + std::to_string(pages) + " pages of " + std::to_string(page_size) +
               " tokens: both must be positive and the product below 2^31");
  pages_.resize(static_cast<std::size_t>(pages));
  for (std::int32_t i = 0; i < pages; ++i) idle_.push_back(i);
}

PagePool::Key PagePool::key_of(std::uint64_t before, std::span<const std::int32_t> tokens,
                               std::size_t index) const {
  const auto own = tokens.subspan(index * static_cast<std::size_t>(page_size_),
                                  static_cast<std::size_t>(page_size_));
  return {before, {own.begin(), own.end()}};
}

void PagePool::forget(Page& page) {
  if (page.serial != 0) published_.erase(page.key);
  page.serial = 0;
  page.key = {};
}

void PagePool::forget_all() {
  for (Page& page : pages_) forget(page);
}

void PagePool::hold(std::int32_t page) {
  if (pages_[static_cast<std::size_t>(page)].holders++ != 0) return;
  idle_.erase(std::ranges::find(idle_, page));
  ++held_;
}

std::int32_t PagePool::take() {
  if (idle_.empty())
    throw Error(ErrorCode::out_of_memory, "the KV cache is full: all " +
                                              std::to_string(num_pages()) + " pages of " +
                                              std::to_string(page_size_) + " tokens are in use");
  const std::int32_t page = idle_.front();
  forget(pages_[static_cast<std::size_t>(page)]);
  hold(page);
  return page;
}

std::vector<std::int32_t> PagePool::take_head(std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> head;
  std::uint64_t before = 0;
  const std::size_t whole = tokens.size() / static_cast<std::size_t>(page_size_);
  while (head.size() < whole) {
    const auto found = published_.find(key_of(before, tokens, head.size()));
    if (found == published_.end()) break;
    hold(found->second);
    head.push_back(found->second);
    before = pages_[static_cast<std::size_t>(found->second)].serial;
  }
  return head;
}

void PagePool::give_back(std::int32_t page) {
  Page& entry = pages_.at(static_cast<std::size_t>(page));
  if (entry.holders == 0)
    throw Error(ErrorCode::internal, "page " + std::to_string(page) + " is given back twice");
  if (--entry.holders != 0) return;
  --held_;
  // What cannot be found again is the first to be overwritten.
  if (entry.serial == 0)
    idle_.push_front(page);
  else
    idle_.push_back(page);
}

void PagePool::publish(std::span<const std::int32_t> pages, std::span<const std::int32_t> tokens) {
  std::uint64_t before = 0;
  const std::size_t whole =
      std::min(pages.size(), tokens.size() / static_cast<std::size_t>(page_size_));
  for (std::size_t i = 0; i < whole; ++i) {
    Page& page = pages_.at(static_cast<std::size_t>(pages[i]));
    if (page.serial == 0) {
      Key key = key_of(before, tokens, i);
      // Two sequences may have computed the same page at once: the first stays the one to find.
      const auto [found, is_new] = published_.try_emplace(key, pages[i]);
      if (is_new) {
        page.key = std::move(key);
        page.serial = ++last_serial_;
      }
      before = pages_[static_cast<std::size_t>(found->second)].serial;
    } else {
      before = page.serial;
    }
  }
}

}  // namespace rooftile
