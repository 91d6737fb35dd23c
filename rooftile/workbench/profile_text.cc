// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_text.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/console.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_words.h"
#include "rooftile/workbench/roofline_text.h"

namespace rooftile {
namespace {

constexpr int kLeastColumns = 76;
constexpr int kWide = 98;  // from here there is room for the rate and a bar

std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

// `text` cut to `width` characters, the cut marked; never within a UTF-8 sequence.
std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string cut;
  std::size_t used = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && ++used == width) break;
    cut += c;
  }
  return cut + "…";
}

class Page {
 public:
  Page(const Profile& profile, const ProfileText& options)
      : profile_(profile),
        options_(options),
        columns_(std::max(kLeastColumns, options.columns)),
        colour_(options.has_colour) {}

  std::string text() {
    head();
    for (const Headline& line : headlines(profile_)) headline(line);
    for (const ProfilePhase& phase : profile_.phases) show(phase);
    roofline();
    decode();
    fusion();
    layouts();
    advice();
    for (const std::string& note : profile_.notes)
      paragraph("note: ", printable(note), Style::yellow);
    return text_;
  }

 private:
  void title(const std::string& text) {
    text_ += "\n" + paint(printable(text), Style::bold, colour_) + "\n";
  }

  // Wrapped below `lead`, which stands before the first line.
  void paragraph(const std::string& lead, const std::string& text, Style style = Style::plain) {
    const std::size_t indent = display_width(lead);
    const std::vector<std::string> lines = wrap(text, static_cast<std::size_t>(columns_) - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
      text_ += (i == 0 ? paint(lead, style, colour_) : std::string(indent, ' ')) + lines[i] + "\n";
  }

  void head() {
    const ProfiledModel& model = profile_.model;
    text_ += paint("Profile of " + printable(model.name), Style::bold, colour_);
    if (model.is_synthetic) text_ += paint("  SYNTHETIC WEIGHTS", Style::yellow, colour_);
    text_ += "\n";
    paragraph("  ", printable(model_facts(model)));
    paragraph("  ", printable(profile_.device.description) + ", " + printable(profile_.date));
    paragraph("  ", printable(model.command));
    text_ += "\n";
  }

  void headline(const Headline& line) {
    constexpr std::size_t kLabel = 24;
    std::string label = printable(line.label);
    label.resize(std::max(kLabel, label.size() + 1), ' ');
    std::string value = printable(line.value);
    value.resize(std::max<std::size_t>(14, value.size()), ' ');
    Columns columns({{"", kLabel}, {"", 14}}, columns_, colour_, 2);
    text_ +=
        columns.row({{label}, {value, Style::bold}}, {printable(line.detail), Style::dim}, true);
  }

  void show(const ProfilePhase& phase) {
    const auto per_pass = [&](double us) { return us / static_cast<double>(phase.passes); };
    title(phase.name + (phase.passes == 1
                            ? ", 1 pass"
                            : ", " + std::to_string(phase.passes) + " passes; times a pass"));
    std::vector<std::string> facts{"captured " + time_text(per_pass(phase.captured_us)),
                                   "in operations " + time_text(per_pass(phase.busy_us)),
                                   "gaps " + time_text(per_pass(phase.gap_us))};
    if (phase.gap_us_an_operation)
      facts.back() += " (" + time_text(*phase.gap_us_an_operation) + " an operation)";
    if (phase.roof_us) facts.push_back("all at the roof " + time_text(per_pass(*phase.roof_us)));
    paragraph("  ", join(facts, ", "), Style::dim);
    table("kernel", phase.kernels, phase);
    table("role", phase.roles, phase);
  }

  static std::string bar(double percent) {
    static const std::vector<std::string> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    constexpr double kFull = 10;  // characters
    const auto eighths =
        static_cast<std::size_t>(std::lround(std::clamp(percent, 0.0, 100.0) / 100 * kFull * 8));
    std::string text;
    for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
    return text + kParts[eighths % 8];
  }

  static Style style_of(const ProfileRow& row) {
    if (!row.percent_of_roof) return Style::dim;
    return *row.percent_of_roof >= 80   ? Style::green
           : *row.percent_of_roof >= 50 ? Style::yellow
                                        : Style::red;
  }

  [[nodiscard]] std::vector<Cell> cells(const ProfileRow& row, const ProfilePhase& phase) const {
    const auto per_pass = [&](double us) {
      return time_text(us / static_cast<double>(phase.passes));
    };
    std::vector<Cell> list{{shortened(printable(row.name), 28), Style::bold},
                           {std::to_string(row.calls), Style::dim},
                           {per_pass(row.time_us)},
                           {figures(row.share_percent) + " %"}};
    if (columns_ >= kWide) {
      list.push_back({bar(row.share_percent), Style::cyan});
      list.push_back({rate_words(row)});
    }
    list.push_back({printable(roof_words(row)), style_of(row)});
    list.push_back({row.lost_us ? per_pass(*row.lost_us) : "-"});
    return list;
  }

  void table(const char* what, const std::vector<ProfileRow>& rows, const ProfilePhase& phase) {
    std::vector<Columns::Column> heads{
        {what, 20}, {"calls", 5, true}, {"time", 7, true}, {"share", 6, true}};
    if (columns_ >= kWide) {
      heads.push_back({"", 10});
      heads.push_back({"rate", 12, true});
    }
    heads.push_back({"roof", 12, true});
    heads.push_back({"lost", 7, true});
    Columns columns(heads, columns_, colour_, 2);
    const std::size_t shown = std::min(options_.rows, rows.size());
    for (std::size_t i = 0; i < shown; ++i) columns.fit(cells(rows[i], phase));
    text_ += columns.header();
    for (std::size_t i = 0; i < shown; ++i) text_ += columns.row(cells(rows[i], phase));
    double rest = 0;
    for (std::size_t i = shown; i < rows.size(); ++i) rest += rows[i].share_percent;
    if (shown < rows.size())
      text_ += paint(
          "  and " + std::to_string(rows.size() - shown) + " more with " + figures(rest) + " %\n",
          Style::dim, colour_);
  }

  // Kernels below a hundredth of their phase would only hide the others.
  void roofline() {
    constexpr double kLeastShare = 1;
    std::vector<Record> records;
    for (const ProfilePhase& phase : profile_.phases)
      for (const ProfileRow& row : phase.kernels) {
        if (!row.gflops || !row.intensity || row.share_percent < kLeastShare) continue;
        Record record{.op = row.op,
                      .kernel = row.name,
                      .problem = phase.name + " " + shortened(printable(row.name), 40),
                      .device = {}};
        record.time_us = Quantiles{.median = row.time_us, .n = row.calls};
        record.tflops = *row.gflops / 1e3;
        record.intensity = row.intensity;
        record.bound = printable(row.bound);
        record.percent_of_roof = row.percent_of_roof;
        records.push_back(std::move(record));
      }
    const std::string plot = roofline_text(
        records, profile_.ceilings, {.columns = columns_, .rows = 16, .has_colour = colour_});
    if (plot.empty()) return;
    title("Roofline");
    text_ += plot;
  }

  void decode() {
    const std::vector<std::string> sentences = decode_sentences(profile_);
    if (sentences.empty()) return;
    title("The arithmetic of decode");
    for (const std::string& sentence : sentences) paragraph("  ", printable(sentence));
  }

  void fusion() {
    if (profile_.fusion.empty()) return;
    title("Fusion: what each pair would save a pass, at most");
    Columns columns({{"", 7}, {"producer", 12}, {"", 1}, {"consumer", 12}, {"bytes", 9, true}},
                    columns_, colour_, 2);
    const auto cells_of = [](const FusionRow& row) {
      return std::vector<Cell>{{row.phase, Style::dim},
                               {shortened(printable(row.producer), 20)},
                               {"→", Style::dim},
                               {shortened(printable(row.consumer), 20)},
                               {bytes_text(row.bytes), Style::bold}};
    };
    const std::size_t shown = std::min(options_.rows, profile_.fusion.size());
    for (std::size_t i = 0; i < shown; ++i) columns.fit(cells_of(profile_.fusion[i]));
    text_ += columns.header();
    for (std::size_t i = 0; i < shown; ++i)
      text_ += columns.row(cells_of(profile_.fusion[i]),
                           {saving_words(profile_.fusion[i]), Style::dim}, true);
    if (shown < profile_.fusion.size())
      text_ += paint("  and " + std::to_string(profile_.fusion.size() - shown) + " more\n",
                     Style::dim, colour_);
  }

  void layouts() {
    if (profile_.layouts.empty()) return;
    title("Layouts");
    for (const LayoutRow& row : profile_.layouts)
      paragraph("  " + printable(row.role) + "  ", printable(layout_words(row)));
  }

  void advice() {
    title("What to do next, in this order");
    if (profile_.advice.empty()) paragraph("  ", "Nothing stands out: no step would gain 2 %.");
    int number = 1;
    for (const Advice& one : profile_.advice) {
      const std::string gain = gain_words(one);
      paragraph("  " + std::to_string(number++) + ". ",
                (one.phase.empty() ? "" : one.phase + ": ") + printable(one.what), Style::bold);
      paragraph("     ", printable(one.why));
      if (!gain.empty()) text_ += "     " + paint(gain, Style::green, colour_) + "\n";
    }
  }

  const Profile& profile_;
  const ProfileText& options_;
  int columns_;
  bool colour_;
  std::string text_{};
};

}  // namespace

std::string profile_text(const Profile& profile, const ProfileText& options) {
  return Page(profile, options).text();
}

}  // namespace rooftile
