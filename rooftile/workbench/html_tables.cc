// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/html_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_words.h"

namespace rooftile {
namespace {

struct Head {
  const char* title;
  bool is_left = false;
  bool is_sorted = false;  // the order in which the rows come
};

std::string head_row(const std::vector<Head>& heads) {
  std::string text = "<thead><tr>";
  for (const Head& head : heads)
    text += fmt::format("<th scope=\"col\"{}{}><button type=\"button\">{}</button></th>",
                        head.is_left ? " class=\"left\"" : "",
                        head.is_sorted ? " aria-sort=\"descending\"" : "", head.title);
  return text + "</tr></thead>\n";
}

// A figure: `text` is seen, `value` is what it sorts by.
std::string cell(const std::optional<double>& value, const std::string& text,
                 const std::string& css = "") {
  return fmt::format("<td{}{}>{}</td>", css.empty() ? "" : " class=\"" + css + "\"",
                     value ? " data-v=\"" + shortest(*value) + "\"" : "",
                     value ? html_text(text) : "<span class=\"dim\">–</span>");
}

std::string rate(const std::optional<double>& giga, const char* unit) {
  return giga ? rate_text(*giga * 1e9, unit) : "";
}

std::string share_cell(const ProfileRow& row, int colour) {
  return fmt::format(
      "<td class=\"bar\" data-v=\"{}\">{} %<i class=\"b{}\" style=\"width:{}%\"></i></td>",
      shortest(row.share_percent), figures(row.share_percent), colour,
      coordinate(std::clamp(row.share_percent, 0.0, 100.0)));
}

std::string roof_cell(const ProfileRow& row) {
  if (!row.percent_of_roof) return cell(std::nullopt, "");
  const double percent = *row.percent_of_roof;
  return cell(percent, figures(percent) + " %",
              percent >= 80   ? "good"
              : percent >= 50 ? "fair"
                              : "bad");
}

std::string table_of(const char* what, const std::vector<ProfileRow>& rows,
                     const ProfilePhase& phase, const OperationColours& colours) {
  const auto per_pass = [&](const std::optional<double>& us) -> std::optional<double> {
    if (!us) return {};
    return *us / static_cast<double>(phase.passes);
  };
  const auto time_cell = [&](const std::optional<double>& us) {
    return cell(per_pass(us), us ? time_text(*per_pass(us)) : "");
  };
  std::string text = "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"" +
                     phase.name + " by " + what + "\"><table>\n" +
                     head_row({{what, true},
                               {"calls"},
                               {"time", false, true},
                               {"share"},
                               {"lost to the roof"},
                               {"roof"},
                               {"bound", true},
                               {"bandwidth"},
                               {"arithmetic"},
                               {"op/byte"},
                               {"bytes"},
                               {"operations"}}) +
                     "<tbody>\n";
  for (const ProfileRow& row : rows) {
    text +=
        "<tr><td title=\"" + html_text(row.problem) + "\">" + html_text(row.name) + "</td>" +
        cell(static_cast<double>(row.calls), std::to_string(row.calls)) + time_cell(row.time_us) +
        share_cell(row, colours.of(row.op)) + time_cell(row.lost_us) + roof_cell(row) +
        "<td class=\"left\">" + (row.bound.empty() ? "–" : html_text(row.bound)) + "</td>" +
        cell(row.gbytes_per_s, rate(row.gbytes_per_s, "B/s")) +
        cell(row.gflops, rate(row.gflops, "FLOP/s")) +
        cell(row.intensity, row.intensity ? figures(*row.intensity) : "") +
        cell(row.bytes, bytes_text(row.bytes)) + cell(row.ops, count_words(row.ops)) + "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string phase_section(const ProfilePhase& phase, const OperationColours& colours) {
  std::string facts = std::to_string(phase.passes) + (phase.passes == 1 ? " pass, " : " passes, ") +
                      std::to_string(phase.tokens) +
                      (phase.tokens == 1 ? " token, " : " tokens, ") +
                      std::to_string(phase.operations) + " operations.";
  if (phase.gap_us_an_operation)
    facts += " Between operations: " + time_text(*phase.gap_us_an_operation) + " each.";
  facts += " Times are those of a pass; bytes and operations those of the whole phase.";
  const std::string title = phase.name == "prefill" ? "Prefill" : "Decode";
  return "<section id=\"" + phase.name + "\">\n<h2>" + title + "</h2>\n<p class=\"lead\">" + facts +
         "</p>\n<h3>By kernel</h3>\n" + table_of("kernel", phase.kernels, phase, colours) +
         "<h3>By role</h3>\n" + table_of("role", phase.roles, phase, colours) + "</section>\n";
}

std::string fusion_table(const Profile& profile) {
  if (profile.fusion.empty()) return "<p>No operation reads what another one wrote.</p>\n";
  std::string text =
      "<div class=\"scroll tall\" tabindex=\"0\" role=\"group\" aria-label=\"Fusion\"><table>\n" +
      head_row({{"producer", true},
                {"consumer", true},
                {"phase", true},
                {"bytes", false, true},
                {"in cache"},
                {"time at the roof"},
                {"overhead"}}) +
      "<tbody>\n";
  for (const FusionRow& row : profile.fusion)
    text += "<tr><td>" + html_text(row.producer) + "</td><td class=\"left\">" +
            html_text(row.consumer) + "</td><td class=\"left\">" + row.phase + "</td>" +
            cell(row.bytes, bytes_text(row.bytes)) +
            (row.cached_bytes > 0
                 ? cell(row.cached_bytes,
                        row.cached_bytes >= row.bytes ? "all" : bytes_text(row.cached_bytes))
                 : cell(0, "none", "dim")) +
            cell(row.time_us, row.time_us ? time_text(*row.time_us) : "") +
            cell(row.overhead_us, row.overhead_us ? time_text(*row.overhead_us) : "") + "</tr>\n";
  return text + "</tbody></table></div>\n";
}

std::string layout_list(const Profile& profile) {
  if (profile.layouts.empty()) return "";
  std::string text = "<h3>Layouts</h3>\n";
  for (const LayoutRow& row : profile.layouts)
    text += "<p><b>" + html_text(row.role) + "</b>: " + html_text(layout_words(row)) + ".</p>\n";
  return text;
}

}  // namespace rooftile
