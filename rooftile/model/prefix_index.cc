// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/prefix_index.h"

#include <algorithm>

namespace rooftile {
namespace {

unsigned byte_of(const PrefixIndex::Entry& entry, std::size_t depth) {
  return static_cast<unsigned char>(entry.text[depth]);
}

}  // namespace

PrefixIndex::PrefixIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.text.empty(); });
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.text != b.text ? a.text < b.text : a.id < b.id;
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  for (const Entry& entry : entries_) {
    longest_ = std::max(longest_, entry.text.size());
    ++first_[byte_of(entry, 0) + 1];
  }
  for (std::size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

void PrefixIndex::visit_prefixes(std::string_view text,
                                 FunctionRef<void(const Entry&)> found) const {
  if (text.empty()) return;
  const auto lead = static_cast<unsigned char>(text[0]);
  auto begin = entries_.begin() + first_[lead];
  auto end = entries_.begin() + first_[lead + 1U];
  // Entries of [begin, end) agree with the text in `depth` bytes; the one that ends there is first.
  for (std::size_t depth = 1; begin != end; ++depth) {
    if (begin->text.size() == depth) found(*begin++);
    if (depth == text.size()) return;
    const unsigned byte = static_cast<unsigned char>(text[depth]);
    begin = std::lower_bound(begin, end, byte, [depth](const Entry& entry, unsigned wanted) {
      return byte_of(entry, depth) < wanted;
    });
    end = std::upper_bound(begin, end, byte, [depth](unsigned wanted, const Entry& entry) {
      return wanted < byte_of(entry, depth);
    });
  }
}

const PrefixIndex::Entry* PrefixIndex::longest_prefix(std::string_view text) const {
  const Entry* longest = nullptr;
  visit_prefixes(text, [&](const Entry& entry) { longest = &entry; });
  return longest;
}

std::int32_t PrefixIndex::find(std::string_view text) const {
  if (text.empty()) return -1;
  const auto lead = static_cast<unsigned char>(text[0]);
  const auto begin = entries_.begin() + first_[lead];
  const auto end = entries_.begin() + first_[lead + 1U];
  const auto at = std::lower_bound(
      begin, end, text,
      [](const Entry& entry, std::string_view wanted) { return entry.text < wanted; });
  return at != end && at->text == text ? at->id : -1;
}

}  // namespace rooftile
