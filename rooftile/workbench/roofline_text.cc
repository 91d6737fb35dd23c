// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/roofline_text.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "rooftile/base/console.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/braille_canvas.h"

namespace rooftile {
namespace {

constexpr int kLeftMargin = 9;  // "999 TF/s "
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

struct Point {
  double intensity;
  double ops_per_s;
  char letter;
  const Record* record;
};

struct Line {
  std::string label;
  double per_s;
};

// One range of decades, mapped to [0, 1].
struct Axis {
  int low = 0;
  int high = 1;
  void cover(double from, double to) {
    low = static_cast<int>(std::floor(std::log10(from)));
    high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(to))));
  }
  [[nodiscard]] double place(double value) const {
    return (std::log10(value) - low) / (high - low);
  }
  [[nodiscard]] double value(double place) const {
    return std::pow(10, low + place * (high - low));
  }
};

std::vector<Point> points_of(const std::vector<Record>& records) {
  std::vector<Point> points;
  for (const Record& record : records) {
    if (record.status != Status::passed || !record.time_us || !record.tflops || !record.intensity ||
        *record.intensity <= 0)
      continue;
    const char letter = points.size() < kLetters.size() ? kLetters[points.size()] : '*';
    points.push_back({*record.intensity, *record.tflops * 1e12, letter, &record});
  }
  return points;
}

std::vector<Line> memory_lines(const Ceilings& ceilings) {
  std::vector<Line> lines{{"read", ceilings.read.per_s},
                          {"triad", ceilings.triad.per_s},
                          {"copy", ceilings.copy.per_s},
                          {"write", ceilings.write.per_s}};
  std::erase_if(lines, [](const Line& line) { return line.per_s <= 0; });
  std::ranges::stable_sort(lines, std::greater{}, &Line::per_s);
  return lines;
}

// Units of equal rate share a line.
std::vector<Line> compute_lines(const Ceilings& ceilings) {
  std::vector<Line> lines;
  for (std::size_t unit = 0; unit < ceilings.units.size(); ++unit)
    if (const auto& ceiling = ceilings.units[unit]; ceiling && ceiling->per_s > 0)
      lines.push_back({std::string(name(static_cast<Unit>(unit))), ceiling->per_s});
  std::ranges::stable_sort(lines, std::greater{}, &Line::per_s);
  std::vector<Line> merged;
  for (const Line& line : lines) {
    if (!merged.empty() && merged.back().per_s < 1.1 * line.per_s) {
      merged.back().label += " " + line.label;
    } else {
      merged.push_back(line);
    }
  }
  return merged;
}

struct Plot {
  Axis x{};
  Axis y{};
  std::vector<Line> memory;
  std::vector<Line> compute;
  std::vector<Point> points;
};

Plot plan(const std::vector<Record>& records, const Ceilings& ceilings) {
  Plot plot{.memory = memory_lines(ceilings),
            .compute = compute_lines(ceilings),
            .points = points_of(records)};
  if (plot.points.empty()) return plot;
  double x_low = plot.points[0].intensity, x_high = x_low;
  double y_low = plot.points[0].ops_per_s, y_high = y_low;
  for (const Point& point : plot.points) {
    x_low = std::min(x_low, point.intensity), x_high = std::max(x_high, point.intensity);
    y_low = std::min(y_low, point.ops_per_s), y_high = std::max(y_high, point.ops_per_s);
  }
  for (const Line& roof : plot.compute) {
    y_high = std::max(y_high, roof.per_s);
    // The ridges belong to the picture.
    if (!plot.memory.empty()) x_high = std::max(x_high, 2 * roof.per_s / plot.memory.back().per_s);
  }
  plot.x.cover(x_low / 1.5, x_high * 1.5);
  plot.y.cover(y_low / 1.5, y_high * 1.2);
  return plot;
}

void draw(const Plot& plot, BrailleCanvas& canvas) {
  const double top = plot.compute.empty() ? HUGE_VAL : plot.compute.front().per_s;
  const double best = plot.memory.empty() ? HUGE_VAL : plot.memory.front().per_s;
  for (int i = 0; i < canvas.dots_across(); ++i) {
    const double x = static_cast<double>(i) / (canvas.dots_across() - 1);
    const double intensity = plot.x.value(x);
    for (const Line& roof : plot.memory)
      if (intensity * roof.per_s <= top) canvas.dot(x, plot.y.place(intensity * roof.per_s));
    for (const Line& roof : plot.compute)
      if (intensity * best >= roof.per_s) canvas.dot(x, plot.y.place(roof.per_s));
  }
  for (const Point& point : plot.points)
    canvas.letter(plot.x.place(point.intensity), plot.y.place(point.ops_per_s), point.letter);
}

std::string label_of(const Line& roof) {
  return roof.label + " " + rate_text(roof.per_s, "FLOP/s");
}

// Columns right of the plot: a blank and the longest label.
int right_margin(const Plot& plot) {
  std::size_t longest = 19;
  for (const Line& roof : plot.compute) longest = std::max(longest, display_width(label_of(roof)));
  return static_cast<int>(longest) + 1;
}

std::string right_aligned(const std::string& text, int width) {
  const auto own = static_cast<int>(display_width(text));
  return std::string(static_cast<std::size_t>(std::max(0, width - own)), ' ') + text;
}

std::string plot_text(const Plot& plot, const BrailleCanvas& canvas, int rows, int columns,
                      bool colour) {
  std::vector<std::string> left(static_cast<std::size_t>(rows));
  std::vector<std::string> right(left.size());
  for (int decade = plot.y.low; decade <= plot.y.high; ++decade)
    left[static_cast<std::size_t>(canvas.row_of(plot.y.place(std::pow(10, decade))))] =
        rate_text(std::pow(10, decade), "F/s", 1);
  for (const Line& roof : plot.compute) {
    auto row = static_cast<std::size_t>(canvas.row_of(plot.y.place(roof.per_s)));
    while (row + 1 < right.size() && !right[row].empty()) ++row;
    right[row] = label_of(roof);
  }
  std::string text;
  for (int row = 0; row < rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool is_marked = !left[at].empty();
    text += paint(right_aligned(left[at], kLeftMargin) + (is_marked ? " ┤" : " │"), Style::dim,
                  colour) +
            canvas.row_text(row, colour);
    text += right[at].empty() ? "\n" : " " + paint(right[at], Style::cyan, colour) + "\n";
  }
  std::string axis(static_cast<std::size_t>(kLeftMargin + 1), ' ');
  axis += "└";
  for (int i = 0; i < columns; ++i) axis += "─";
  std::string ticks(static_cast<std::size_t>(columns + kLeftMargin + 12), ' ');
  for (int decade = plot.x.low; decade <= plot.x.high; ++decade) {
    const std::string label = shortest(std::pow(10, decade));
    const auto at = static_cast<std::size_t>(
        kLeftMargin + 2 + std::lround(plot.x.place(std::pow(10, decade)) * (columns - 1)));
    ticks.replace(at, label.size(), label);
  }
  ticks.erase(ticks.find_last_not_of(' ') + 1);
  return text + paint(axis, Style::dim, colour) + "\n" +
         paint(ticks + "  FLOP/byte", Style::dim, colour) + "\n";
}

std::string legend(const Plot& plot, std::size_t num_records, const RooflineText& options) {
  const bool colour = options.has_colour;
  std::string text;
  std::vector<std::string> roofs;
  for (const Line& roof : plot.memory)
    roofs.push_back(roof.label + " " + rate_text(roof.per_s, "B/s"));
  if (!roofs.empty())
    for (const std::string& line : wrap("memory roofs, highest first: " + join(roofs, ", "),
                                        static_cast<std::size_t>(options.columns)))
      text += line + "\n";
  for (const Point& point : plot.points) {
    const Record& record = *point.record;
    text +=
        "  " + paint(std::string(1, point.letter), Style::yellow, colour) + "  " + record.problem;
    if (record.percent_of_roof)
      text += "  " + figures(*record.percent_of_roof) + " % of " + record.bound;
    text += "\n";
  }
  if (num_records > plot.points.size())
    text += "  not on the plot (no valid time, or no operations): " +
            std::to_string(num_records - plot.points.size()) + "\n";
  return text;
}

}  // namespace

std::string roofline_text(const std::vector<Record>& records, const Ceilings& ceilings,
                          const RooflineText& options) {
  const Plot plot = plan(records, ceilings);
  if (plot.points.empty()) return "";
  const int columns = std::max(60, options.columns) - kLeftMargin - 2 - right_margin(plot);
  const int rows = std::max(8, options.rows);
  BrailleCanvas canvas(columns, rows);
  draw(plot, canvas);
  return plot_text(plot, canvas, rows, columns, options.has_colour) +
         legend(plot, records.size(), options);
}

}  // namespace rooftile
