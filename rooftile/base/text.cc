// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace rooftile {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(kBlanks);
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size()));
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator,
                 std::string_view quote) {
  std::string text;
  bool is_first = true;
  for (const std::string& part : parts) {
    if (!is_first) text += separator;
    is_first = false;
    text.append(quote).append(part).append(quote);
  }
  return text;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(from, at), text.size());
    out += text.substr(at, found - at);
    if (found < text.size()) out += to;
    at = found + from.size();
  }
  return out;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  using Suffix = std::pair<std::string_view, std::int64_t>;
  static constexpr std::array<Suffix, 6> kSuffixes{
      Suffix{"ki", 1024}, {"Mi", 1024 * 1024}, {"Gi", 1024 * 1024 * 1024},
      {"k", 1000},        {"M", 1000000},      {"G", 1000000000}};
  std::int64_t unit = 1;
  for (const auto& [name, factor] : kSuffixes) {
    if (!text.ends_with(name)) continue;
    unit = factor;
    text.remove_suffix(name.size());
    break;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (__builtin_mul_overflow(value, unit, &value)) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || std::isnan(value))
    return std::nullopt;
  return value;
}

// A NaN's sign says nothing to a person.
std::string shortest(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string figures(double value, int digits) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (std::isnan(value)) return "nan";
  if (!std::isfinite(value) || size < 1e-3 || size >= 1e6)
    return fmt::format("{:.{}g}", value, digits);
  const int whole = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, digits - whole));
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return figures(bytes) + " " + kUnits[unit];
}

std::string time_text(double time_us) {
  if (time_us < 1) return figures(time_us * 1e3) + " ns";
  if (time_us < 1e3) return figures(time_us) + " us";
  if (time_us < 1e6) return figures(time_us / 1e3) + " ms";
  return figures(time_us / 1e6) + " s";
}

std::string rate_text(double per_s, std::string_view unit, int digits) {
  static constexpr std::array<const char*, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; per_s >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) per_s /= 1e3;
  return figures(per_s, digits) + " " + kPrefixes[prefix] + std::string(unit);
}

std::string shell_quote(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace rooftile
