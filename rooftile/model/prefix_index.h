// SPDX-License-Identifier: Apache-2.0
// A set of strings, asked for those that a text begins with: sorted once, then narrowed byte by
// byte. No pointers, no hashing, nothing that a hostile list of strings could slow down.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/function_ref.h"

namespace rooftile {

class PrefixIndex {
 public:
  struct Entry {
    std::string_view text;  // owned by the caller
    std::int32_t id;
  };

  PrefixIndex() = default;
  /// Empty texts are dropped; of equal texts the lowest id stays.
  explicit PrefixIndex(std::vector<Entry> entries);

  /// Calls `found` for each entry that `text` begins with, shortest first.
  void visit_prefixes(std::string_view text, FunctionRef<void(const Entry&)> found) const;

  /// The longest entry that `text` begins with; null when there is none.
  [[nodiscard]] const Entry* longest_prefix(std::string_view text) const;

  /// The id of exactly `text`; -1 when it is no entry.
  [[nodiscard]] std::int32_t find(std::string_view text) const;

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Bytes of the longest entry.
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  std::vector<Entry> entries_{};
  std::array<std::uint32_t, 257> first_{};  // where the entries of each first byte begin
  std::size_t longest_ = 0;
};

}  // namespace rooftile
