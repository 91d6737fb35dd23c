// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees. Shared by the meaning and the kernels; op_test.cc works cases by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rooftile::ops::attention {

enum class Mask : std::uint8_t { causal_bottom_right, causal_top_left, none };

inline Mask parse_mask(std::string_view name) {
  return name == "none"              ? Mask::none
         : name == "causal_top_left" ? Mask::causal_top_left
                                     : Mask::causal_bottom_right;
}

/// The place of query `row` of `rows` among the `length` keys of its sequence: the last query
/// stands at the last key, or with causal_top_left the first at the first. Negative for queries
/// before all keys.
inline std::int64_t position_of(Mask mask, std::int64_t row, std::int64_t rows,
                                std::int64_t length) {
  return mask == Mask::causal_top_left ? row : length - rows + row;
}

struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // at least begin
};

/// The keys that the query at `position` sees; window 0: no limit.
inline KeyRange visible_keys(Mask mask, std::int64_t window, std::int64_t position,
                             std::int64_t length) {
  if (mask == Mask::none) return {0, length};
  const std::int64_t end = std::clamp<std::int64_t>(position + 1, 0, length);
  const std::int64_t begin = window > 0 ? std::max<std::int64_t>(position + 1 - window, 0) : 0;
  return {std::min(begin, end), end};
}

/// Whether offsets at(0) … at(count - 1) are sorted within [0, rows].
template <class At>
bool are_offsets_valid(const At& at, std::int64_t count, std::int64_t rows) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (at(i) < last || at(i) > rows) return false;
    last = at(i);
  }
  return true;
}

}  // namespace rooftile::ops::attention
