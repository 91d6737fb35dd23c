// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_words.h"

namespace rooftile {
namespace {

constexpr double kLeft = 64, kRight = 14, kTop = 16, kBottom = 40;
constexpr double kLargest = 30;    // radius of the mark with the most time
constexpr double kSmallest = 3.5;  // that can still be seen and touched
constexpr double kLabelShare = 4;  // percent of its phase from which a mark is named

struct Mark {
  const ProfilePhase* phase;
  const ProfileRow* row;
  double ops_per_s;
};

struct Roof {
  std::string label;
  double per_s;
};

// A range of values mapped to pixels by their logarithm.
struct Axis {
  double low = 1, high = 10;  // values
  double from = 0, to = 1;    // pixels
  [[nodiscard]] double place(double value) const {
    return from + (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low)) *
                      (to - from);
  }
  [[nodiscard]] double pixels_a_decade() const {
    return std::abs(to - from) / (std::log10(high) - std::log10(low));
  }
};

std::vector<Mark> marks_of(const Profile& profile) {
  std::vector<Mark> marks;
  for (const ProfilePhase& phase : profile.phases)
    for (const ProfileRow& row : phase.kernels)
      if (row.gflops && row.intensity && *row.gflops > 0 && *row.intensity > 0)
        marks.push_back({&phase, &row, *row.gflops * 1e9});
  // The largest first, so that none hides a smaller one.
  std::ranges::stable_sort(marks, std::greater{},
                           [](const Mark& mark) { return mark.row->time_us; });
  return marks;
}

std::vector<Roof> memory_roofs(const Ceilings& ceilings) {
  std::vector<Roof> roofs{{"read", ceilings.read.per_s},
                          {"triad", ceilings.triad.per_s},
                          {"copy", ceilings.copy.per_s},
                          {"write", ceilings.write.per_s}};
  std::erase_if(roofs, [](const Roof& roof) { return roof.per_s <= 0; });
  std::ranges::stable_sort(roofs, std::greater{}, &Roof::per_s);
  return roofs;
}

// Units of nearly the same rate share a line.
std::vector<Roof> compute_roofs(const Ceilings& ceilings) {
  std::vector<Roof> roofs;
  for (std::size_t unit = 0; unit < ceilings.units.size(); ++unit)
    if (const auto& ceiling = ceilings.units[unit]; ceiling && ceiling->per_s > 0)
      roofs.push_back({std::string(name(static_cast<Unit>(unit))), ceiling->per_s});
  std::ranges::stable_sort(roofs, std::greater{}, &Roof::per_s);
  std::vector<Roof> merged;
  for (const Roof& roof : roofs) {
    if (!merged.empty() && merged.back().per_s < 1.1 * roof.per_s) {
      merged.back().label += ", " + roof.label;
    } else {
      merged.push_back(roof);
    }
  }
  return merged;
}

class Drawing {
 public:
  Drawing(const Profile& profile, const OperationColours& colours, const RooflineSvg& options)
      : options_(options),
        colours_(colours),
        marks_(marks_of(profile)),
        memory_(memory_roofs(profile.ceilings)),
        compute_(compute_roofs(profile.ceilings)) {}

  std::string text() {
    if (marks_.empty()) return "";
    fit();
    text_ = fmt::format(
        "<svg class=\"plot {}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Roofline: operations "
        "a second against operations a byte, both logarithmic\">\n",
        options_.css_class, options_.width, options_.height);
    grid();
    roofs();
    for (const Mark& mark : marks_) draw(mark);
    for (const Mark& mark : marks_) label(mark);
    return text_ + "</svg>\n";
  }

 private:
  void fit() {
    double x_low = HUGE_VAL, x_high = 0, y_low = HUGE_VAL, y_high = 0;
    for (const Mark& mark : marks_) {
      x_low = std::min(x_low, *mark.row->intensity);
      x_high = std::max(x_high, *mark.row->intensity);
      y_low = std::min(y_low, mark.ops_per_s);
      y_high = std::max(y_high, mark.ops_per_s);
    }
    for (const Roof& roof : compute_) {
      y_high = std::max(y_high, roof.per_s);
      // The ridges belong to the picture.
      if (!memory_.empty()) x_high = std::max(x_high, roof.per_s / memory_.back().per_s);
    }
    x_ = {x_low / 2.2, x_high * 2.5, kLeft, options_.width - kRight};
    y_ = {y_low / 2.5, y_high * 1.7, options_.height - kBottom, kTop};
  }

  void line(const char* css, double x1, double y1, double x2, double y2) {
    text_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1,
        y1, x2, y2);
  }

  // Lines at 1 … 9 of every decade; the decades are named.
  void grid() {
    for (const bool is_x : {true, false}) {
      const Axis& axis = is_x ? x_ : y_;
      for (int decade = static_cast<int>(std::floor(std::log10(axis.low)));
           decade <= std::log10(axis.high); ++decade)
        for (int digit = 1; digit <= 9; ++digit) {
          const double value = digit * std::pow(10, decade);
          if (value < axis.low || value > axis.high) continue;
          const double at = axis.place(value);
          const char* css = digit == 1 ? "decade" : "grid";
          if (is_x) {
            line(css, at, kTop, at, y_.from);
          } else {
            line(css, kLeft, at, x_.to, at);
          }
          if (digit == 1) tick(is_x, at, value);
        }
    }
    text_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">operations a byte</text>\n"
        "<text x=\"{}\" y=\"12\">operations a second</text>\n",
        x_.to, options_.height - 6, kLeft);
  }

  void tick(bool is_x, double at, double value) {
    if (is_x) {
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", at,
                           y_.from + 16, shortest(value));
    } else {
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                           kLeft - 7, at + 4, rate_text(value, "", 1));
    }
  }

  void roofs() {
    const double top = compute_.empty() ? y_.high : compute_.front().per_s;
    for (std::size_t i = 0; i < memory_.size(); ++i) slope(memory_[i], top, i == 0);
    if (!memory_.empty()) name_slope(memory_.front(), top, -8);
    if (memory_.size() > 1) name_slope(memory_.back(), top, 16);
    for (std::size_t i = 0; i < compute_.size(); ++i) flat(compute_[i], i == 0);
  }

  void slope(const Roof& roof, double top, bool is_highest) {
    const double x1 = std::max(x_.low, y_.low / roof.per_s);
    const double x2 = std::min(x_.high, top / roof.per_s);
    if (x2 <= x1) return;
    text_ += fmt::format(
        "<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"><title>memory, {}: {}</title></path>\n",
        is_highest ? "roof" : "lesser", x_.place(x1), y_.place(x1 * roof.per_s), x_.place(x2),
        y_.place(x2 * roof.per_s), roof.label, rate_text(roof.per_s, "B/s"));
  }

  // Beside the slope, `shift` pixels from it: a third of the way up.
  void name_slope(const Roof& roof, double top, double shift) {
    const double x1 = x_.place(std::max(x_.low, y_.low / roof.per_s));
    const double x2 = x_.place(std::min(x_.high, top / roof.per_s));
    if (x2 - x1 < 90) return;
    const double angle = std::atan2(y_.pixels_a_decade(), x_.pixels_a_decade());
    const double x = x1 + (x2 - x1) * (shift < 0 ? 0.3 : 0.12);
    const double value = std::pow(10, std::log10(x_.low) + (x - x_.from) / x_.pixels_a_decade());
    // Marks are not named where this stands: the box around the slanted text.
    constexpr double kLength = 104, kLine = 15;
    const double y = y_.place(value * roof.per_s);
    const double rise = kLength * std::sin(angle);
    named_.push_back({x, y + shift - rise - kLine / 2, kLength * std::cos(angle), rise + kLine});
    text_ += fmt::format(
        "<text class=\"roofname\" transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" "
        "y=\"{}\">{} {}</text>\n",
        x, y, -angle * 180 / std::numbers::pi, shift, roof.label, rate_text(roof.per_s, "B/s"));
  }

  void flat(const Roof& roof, bool is_highest) {
    constexpr double kLength = 170, kLine = 15;
    const double best = memory_.empty() ? 0 : memory_.front().per_s;
    const double x1 = best > 0 ? std::max(x_.low, roof.per_s / best) : x_.low;
    const double y = y_.place(roof.per_s);
    named_.push_back({x_.to - kLength, y - kLine - 4, kLength, kLine});
    text_ += fmt::format(
        "<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n"
        "<text class=\"roofname\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}</text>\n",
        is_highest ? "roof" : "lesser", x_.place(x1), y, x_.to, x_.to - 4, y - 6, roof.label,
        rate_text(roof.per_s, "FLOP/s"));
  }

  // Area in proportion to time.
  [[nodiscard]] double radius(const Mark& mark) const {
    const double largest = kLargest * std::clamp(options_.width / 1000.0, 0.6, 1.0);
    const double most = marks_.front().row->time_us;
    return std::max(kSmallest, most > 0 ? largest * std::sqrt(mark.row->time_us / most) : 0);
  }

  void draw(const Mark& mark) {
    const double x = x_.place(*mark.row->intensity), y = y_.place(mark.ops_per_s);
    const double r = radius(mark);
    const std::string css = fmt::format("mark f{}", colours_.of_kernel(mark.row->name));
    if (mark.phase->name == "decode") {
      text_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">", css, x,
                           y, r);
    } else {
      const double side = r * std::sqrt(std::numbers::pi);  // the area of the circle
      text_ += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\">",
          css, x - side / 2, y - side / 2, side, side);
    }
    text_ += "<title>" + html_text(words(mark)) + "</title></" +
             (mark.phase->name == "decode" ? "circle" : "rect") + ">\n";
  }

  static std::string words(const Mark& mark) {
    const ProfileRow& row = *mark.row;
    return row.name + "\n" + mark.phase->name + ", " + time_text(row.time_us) + " in " +
           std::to_string(row.calls) + " calls, " + figures(row.share_percent) +
           " % of its operations\n" + rate_text(mark.ops_per_s, "FLOP/s") + " at " +
           figures(*row.intensity) + " operations a byte\nroof: " + roof_words(row);
  }

  struct Box {
    double x, y, width, height;  // from the upper left
    [[nodiscard]] bool meets(const Box& other) const {
      return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
             other.y < y + height;
    }
  };

  [[nodiscard]] Box box_of(const Mark& mark) const {
    const double r = radius(mark);
    return {x_.place(*mark.row->intensity) - r, y_.place(mark.ops_per_s) - r, 2 * r, 2 * r};
  }

  // Whether nothing else stands there, and it is within the plot.
  [[nodiscard]] bool is_free(const Box& place) const {
    if (place.x < kLeft || place.x + place.width > x_.to || place.y < kTop ||
        place.y + place.height > y_.from)
      return false;
    const auto meets = [&](const Box& other) { return place.meets(other); };
    return std::ranges::none_of(named_, meets) &&
           std::ranges::none_of(marks_, [&](const Mark& mark) { return meets(box_of(mark)); });
  }

  // Right of its mark, left, below or above it: where there is room first.
  void label(const Mark& mark) {
    if (mark.row->share_percent < kLabelShare) return;
    constexpr double kCharacter = 7.6, kLine = 15, kSpace = 5;
    const double width = kCharacter * static_cast<double>(mark.row->name.size());
    const Box box = box_of(mark);
    const double middle_x = box.x + box.width / 2 - width / 2;
    const double middle_y = box.y + box.height / 2 - kLine / 2;
    for (const Box& place : {Box{box.x + box.width + kSpace, middle_y, width, kLine},
                             Box{box.x - kSpace - width, middle_y, width, kLine},
                             Box{middle_x, box.y + box.height + 2, width, kLine},
                             Box{middle_x, box.y - 2 - kLine, width, kLine}}) {
      if (!is_free(place)) continue;
      named_.push_back(place);
      text_ += fmt::format(
          "<text class=\"markname\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
          place.x + width / 2, place.y + 12, html_text(mark.row->name));
      return;
    }
  }

  const RooflineSvg& options_;
  const OperationColours& colours_;
  std::vector<Mark> marks_;
  std::vector<Roof> memory_;
  std::vector<Roof> compute_;
  Axis x_{};
  Axis y_{};
  std::vector<Box> named_{};
  std::string text_{};
};

}  // namespace

std::string roofline_svg(const Profile& profile, const OperationColours& colours,
                         const RooflineSvg& options) {
  return Drawing(profile, colours, options).text();
}

std::string not_on_roofline(const Profile& profile) {
  std::vector<std::string> names;
  for (const ProfilePhase& phase : profile.phases)
    for (const ProfileRow& row : phase.kernels)
      if (!row.gflops || !row.intensity) names.push_back(phase.name + " " + row.name);
  return names.empty() ? "" : "Without operations, so without a place: " + join(names, ", ") + ".";
}

}  // namespace rooftile
