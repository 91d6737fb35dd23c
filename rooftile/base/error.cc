// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/error.h"

#include <algorithm>
#include <numeric>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostSuggestions = 3;
constexpr std::size_t kListAllBelow = 16;

// Levenshtein distance in which a swap of neighbours, the commonest typo, is one edit (optimal
// string alignment), with three rows of memory.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

bool is_prefix(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::vector<std::string> near_misses(std::string_view given,
                                     const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(given, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(given.size(), name.size()) / 3);
    if (distance <= allowed || is_prefix(name, given)) close.emplace_back(distance, name);
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (close.size() > kMostSuggestions) close.resize(kMostSuggestions);
  std::vector<std::string> names;
  for (auto& [distance, name] : close) names.push_back(std::move(name));
  return names;
}

std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known) {
  std::string text = "unknown " + std::string(what) + " '" + std::string(given) + "'";
  const std::vector<std::string> close = near_misses(given, known);
  if (!close.empty()) text += "; did you mean " + join(close, " or ", "'") + "?";
  if (!known.empty() && (known.size() <= kListAllBelow || close.empty()))
    text += std::string(close.empty() ? ";" : "") + " known: " + join(known, ", ");
  return text;
}

}  // namespace rooftile
