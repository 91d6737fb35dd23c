// SPDX-License-Identifier: Apache-2.0
// A terminal and what is written to it: its width, colours where they are wanted, columns that line
// up, and a progress bar that leaves nothing behind.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

enum class Style : unsigned char { plain, bold, dim, red, green, yellow, cyan };

bool is_terminal(std::FILE* stream);

/// Whether `stream` is a terminal and NO_COLOR is not set.
bool wants_colour(std::FILE* stream);

/// Columns to fit into: $COLUMNS, else the terminal's, else 0: as many as it takes.
int console_width(std::FILE* stream);

/// `text` between the escapes of `style`; unchanged when `is_on` is false.
std::string paint(std::string_view text, Style style, bool is_on);

/// Characters that UTF-8 text takes on the screen (each code point one).
std::size_t display_width(std::string_view text);

/// Words of `text` in lines of at most `width`; longer words stand alone.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// One cell of a table.
struct Cell {
  std::string text{};
  Style style = Style::plain;
};

/// Lays rows out in columns. Widths are least widths: a longer cell moves the rest of its row.
class Columns {
 public:
  struct Column {
    std::string title;
    std::size_t width = 0;
    bool is_right = false;
  };
  /// `width` is what to fit into, 0 without limit; `indent` stands before each row.
  Columns(std::vector<Column> columns, int width, bool has_colour, int indent = 0);

  /// Widens the columns for `row`; call for every row that is known beforehand.
  void fit(const std::vector<Cell>& row);

  [[nodiscard]] std::string header() const;

  /// The row as text with its line ends. `tail` comes last: on the same line where it fits, else
  /// indented below, broken between words if `can_break` is true.
  [[nodiscard]] std::string row(const std::vector<Cell>& cells, const Cell& tail = {},
                                bool can_break = false) const;

 private:
  std::vector<Column> columns_;
  std::size_t width_;
  bool has_colour_;
  std::string indent_;
};

/// A bar on stderr while long work goes on; nothing at all when stderr is no terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Shows "label [####    ] done/of".
  void update(std::string_view label, int done, int of);

  /// Removes the bar; call before writing anything else.
  void clear();

 private:
  bool is_on_;
  bool is_shown_ = false;
};

}  // namespace rooftile
