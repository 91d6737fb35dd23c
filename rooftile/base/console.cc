// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr int kFallbackWidth = 80;
constexpr std::size_t kTailIndent = 4;
constexpr std::size_t kLeastTail = 30;  // columns; a narrower rest is no place for a sentence

std::string padded(const std::string& text, std::size_t width, bool is_right) {
  const std::size_t own = display_width(text);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return is_right ? blanks + text : text + blanks;
}

void trim_right(std::string& text) { text.erase(text.find_last_not_of(' ') + 1); }

}  // namespace

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

bool wants_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  const bool is_dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return is_terminal(stream) && (no_colour == nullptr || *no_colour == '\0') && !is_dumb;
}

int console_width(std::FILE* stream) {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr)
    if (const auto width = parse_int(columns); width && *width >= 20 && *width <= 1000)
      return static_cast<int>(*width);
  if (!is_terminal(stream)) return 0;
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return kFallbackWidth;
}

std::string paint(std::string_view text, Style style, bool is_on) {
  static constexpr std::array<const char*, 7> kCodes{"", "1", "2", "31", "32", "33", "36"};
  if (!is_on || style == Style::plain || text.empty()) return std::string(text);
  return "\033[" + std::string(kCodes.at(static_cast<std::size_t>(style))) + "m" +
         std::string(text) + "\033[0m";
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : split_words(text)) {
    const bool fits =
        !lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width;
    if (fits) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

Columns::Columns(std::vector<Column> columns, int width, bool has_colour, int indent)
    : columns_(std::move(columns)),
      width_(static_cast<std::size_t>(width)),
      has_colour_(has_colour),
      indent_(static_cast<std::size_t>(indent), ' ') {
  for (Column& column : columns_)
    column.width = std::max(column.width, display_width(column.title));
}

void Columns::fit(const std::vector<Cell>& row) {
  for (std::size_t i = 0; i < std::min(row.size(), columns_.size()); ++i)
    columns_[i].width = std::max(columns_[i].width, display_width(row[i].text));
}

std::string Columns::header() const {
  std::string line = indent_;
  for (const Column& column : columns_)
    line += padded(column.title, column.width, column.is_right) + "  ";
  trim_right(line);
  return paint(line, Style::dim, has_colour_) + "\n";
}

std::string Columns::row(const std::vector<Cell>& cells, const Cell& tail, bool can_break) const {
  std::string line = indent_;
  std::size_t used = indent_.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_last = i + 1 == cells.size() && tail.text.empty();
    const Column column = i < columns_.size() ? columns_[i] : Column{};
    const std::string text = is_last && !column.is_right
                                 ? cells[i].text
                                 : padded(cells[i].text, column.width, column.is_right);
    line += paint(text, cells[i].style, has_colour_) + (is_last ? "" : "  ");
    used += display_width(text) + 2;
  }
  if (tail.text.empty()) return line + "\n";
  const auto painted = [&](const std::string& text) {
    return paint(text, tail.style, has_colour_);
  };
  if (width_ == 0 || used + display_width(tail.text) <= width_)
    return line + painted(tail.text) + "\n";
  const std::size_t left = width_ > used ? width_ - used : 0;
  const bool is_below = !can_break || left < kLeastTail;
  const std::size_t start = is_below ? indent_.size() + kTailIndent : used;
  std::string text = line;
  if (is_below) {
    trim_right(text);
    text += "\n";
  }
  std::vector<std::string> lines{tail.text};
  if (can_break) lines = wrap(tail.text, width_ - start);
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 && !is_below ? "" : std::string(start, ' ')) + painted(lines[i]) + "\n";
  return text;
}

ProgressBar::ProgressBar() : is_on_(is_terminal(stderr)) {}

void ProgressBar::update(std::string_view label, int done, int of) {
  if (!is_on_) return;
  constexpr int kBar = 24;
  const int width = std::max(40, console_width(stderr));
  const int filled = of > 0 ? kBar * std::min(done, of) / of : 0;
  std::string bar;
  for (int i = 0; i < kBar; ++i) bar += i < filled ? "█" : "░";
  const std::string count = " " + std::to_string(done) + "/" + std::to_string(of);
  const auto room =
      static_cast<std::size_t>(width - kBar - 4) - std::min<std::size_t>(count.size(), 12);
  std::fprintf(stderr, "\r\033[K%s%s %.*s", bar.c_str(), count.c_str(),
               static_cast<int>(std::min(room, label.size())), label.data());
  std::fflush(stderr);
  is_shown_ = true;
}

void ProgressBar::clear() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_shown_ = false;
}

}  // namespace rooftile
