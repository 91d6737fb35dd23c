// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr int kNumColours = 10;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (RFC
// 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return is_tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f);
    return !is_bad && is_tail(1) && is_tail(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool is_bad = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return !is_bad && is_tail(1) && is_tail(2) && is_tail(3) ? 4 : 0;
}

std::string_view escaped(std::string_view character) {
  switch (character[0]) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\n':
    case '\t':
      return character;
    default: {
      const auto byte = static_cast<unsigned char>(character[0]);
      return byte < 0x20 || byte == 0x7f ? kReplacement : character;
    }
  }
}

std::string op_of(const std::string& kernel) { return kernel.substr(0, kernel.find('/')); }

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    safe += length == 0 ? kReplacement : escaped(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return safe;
}

std::string filled(std::string_view page, const std::map<std::string, std::string>& parts) {
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find("{{", at);
    const std::size_t close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos)
      return text += page.substr(at);
    const std::string name(page.substr(open + 2, close - open - 2));
    const auto part = parts.find(name);
    if (part == parts.end())
      throw Error(ErrorCode::internal, "the page has a place '" + name + "' that nothing fills");
    text += page.substr(at, open - at);
    text += part->second;
    at = close + 2;
  }
  return text;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

OperationColours::OperationColours(const Profile& profile) {
  std::map<std::string, double> time_of;
  for (const ProfilePhase& phase : profile.phases)
    for (const ProfileRow& row : phase.kernels) time_of[op_of(row.name)] += row.time_us;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [op, time_us] : time_of) order.emplace_back(time_us, op);
  std::ranges::stable_sort(order, std::greater{}, &std::pair<double, std::string>::first);
  for (const auto& [time_us, op] : order)
    colours_[op] = std::min(static_cast<int>(colours_.size()), kNumColours - 1);
}

int OperationColours::of(const std::string& op) const {
  const auto found = colours_.find(op);
  return found == colours_.end() ? kNumColours - 1 : found->second;
}

int OperationColours::of_kernel(const std::string& kernel) const { return of(op_of(kernel)); }

std::string OperationColours::legend() const {
  std::array<std::string, kNumColours> names;
  for (const auto& [op, colour] : colours_) {
    std::string& name = names.at(static_cast<std::size_t>(colour));
    name += (name.empty() ? "" : ", ") + html_text(op);
  }
  std::string text = "<ul class=\"legend\">\n";
  for (std::size_t colour = 0; colour < names.size(); ++colour)
    if (!names[colour].empty())
      text += fmt::format("<li><i class=\"b{}\"></i>{}</li>\n", colour, names[colour]);
  return text + "</ul>\n";
}

}  // namespace rooftile
