// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/nfc.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

struct ClassRun {
  char32_t first;
  char32_t last;
  std::uint8_t combining;
};
struct Decomposition {
  char32_t whole;
  char32_t first;
  char32_t second;  // 0: the decomposition is `first` alone
  bool composes;
};
#include "rooftile/model/nfc_tables.inc"

// Hangul syllables are computed (The Unicode Standard, section 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

int combining_class(char32_t c) {
  const auto* run =
      std::upper_bound(std::begin(kClasses), std::end(kClasses), c,
                       [](char32_t value, const ClassRun& r) { return value < r.first; });
  if (run == std::begin(kClasses)) return 0;
  --run;
  return c <= run->last ? run->combining : 0;
}

void decompose(char32_t c, std::u32string& out) {
  if (c >= kSyllables && c - kSyllables < kSyllableCount) {
    const char32_t index = c - kSyllables;
    out += kLeads + index / (kVowelCount * kTailCount);
    out += kVowels + index / kTailCount % kVowelCount;
    if (index % kTailCount != 0) out += kTails + index % kTailCount;
    return;
  }
  const auto* found =
      std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), c,
                       [](const Decomposition& d, char32_t value) { return d.whole < value; });
  if (found == std::end(kDecompositions) || found->whole != c) {
    out += c;
    return;
  }
  decompose(found->first, out);
  if (found->second != 0) decompose(found->second, out);
}

// The decompositions that compose again, by their two parts.
const std::vector<Decomposition>& compositions() {
  static const std::vector<Decomposition> sorted = [] {
    std::vector<Decomposition> list;
    std::copy_if(std::begin(kDecompositions), std::end(kDecompositions), std::back_inserter(list),
                 [](const Decomposition& d) { return d.composes; });
    std::sort(list.begin(), list.end(), [](const Decomposition& a, const Decomposition& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    return list;
  }();
  return sorted;
}

// What `first` and `second` compose to; 0 for nothing.
char32_t composed(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount)
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
      second > kTails && second - kTails < kTailCount)
    return first + (second - kTails);
  const auto& list = compositions();
  const auto found =
      std::lower_bound(list.begin(), list.end(), std::pair(first, second),
                       [](const Decomposition& d, const auto& p) {
                         return d.first != p.first ? d.first < p.first : d.second < p.second;
                       });
  const bool is_pair = found != list.end() && found->first == first && found->second == second;
  return is_pair ? found->whole : 0;
}

// Marks in the order of their classes, each run between characters of class 0 for itself.
void order_marks(std::u32string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin),
                     text.begin() + static_cast<std::ptrdiff_t>(end), [](char32_t a, char32_t b) {
                       return combining_class(a) < combining_class(b);
                     });
    begin = end + 1;
  }
}

// Each mark joins the last character of class 0 unless one of its class or higher is between them.
std::u32string compose(const std::u32string& text) {
  std::u32string out;
  std::size_t starter = std::u32string::npos;
  int last_class = -1;
  for (const char32_t c : text) {
    const int own_class = combining_class(c);
    if (starter != std::u32string::npos && last_class < own_class) {
      if (const char32_t whole = composed(out[starter], c)) {
        out[starter] = whole;
        continue;
      }
    }
    if (own_class == 0) {
      starter = out.size();
      last_class = -1;
    } else {
      last_class = own_class;
    }
    out += c;
  }
  return out;
}

std::string nfc_of_characters(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    decompose(point.value, points);
    at += point.size;
  }
  order_marks(points);
  std::string out;
  for (const char32_t c : compose(points)) append_utf8(out, c);
  return out;
}

}  // namespace

std::string nfc(std::string_view text) {
  // Why: below U+0300 every character is its own normal form, and most text is.
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
  if (is_plain) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = valid_run(text, at);
    out += nfc_of_characters(text.substr(at, size));
    at += size;
    const std::size_t skipped = invalid_run(text, at);
    out += text.substr(at, skipped);
    at += skipped;
  }
  return out;
}

}  // namespace rooftile
