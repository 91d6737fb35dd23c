// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "report_page.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/html.h"
#include "rooftile/workbench/html_tables.h"
#include "rooftile/workbench/profile_words.h"
#include "rooftile/workbench/roofline_svg.h"
#include "rooftile/workbench/timeline_svg.h"

namespace rooftile {
namespace {

std::string cards(const Profile& profile) {
  std::string text;
  for (const Headline& line : headlines(profile))
    text += "<div class=\"card\"><span>" + html_text(line.label) + "</span><b>" +
            html_text(line.value) + "</b><span>" + html_text(line.detail) + "</span></div>\n";
  return text;
}

std::string notes(const Profile& profile) {
  if (profile.notes.empty()) return "";
  std::string text = "<ul class=\"notes\">\n";
  for (const std::string& note : profile.notes) text += "<li>" + html_text(note) + "</li>\n";
  return text + "</ul>\n";
}

std::string advice(const Profile& profile) {
  if (profile.advice.empty()) return "<p>Nothing stands out: no step would gain 2 %.</p>\n";
  std::string text = "<ol class=\"advice\">\n";
  for (const Advice& one : profile.advice) {
    text += "<li><p class=\"what\"><span class=\"tag\">" + html_text(one.topic) +
            (one.phase.empty() ? "" : " · " + html_text(one.phase)) + "</span>" +
            html_text(one.what) + "</p><p class=\"why\">" + html_text(one.why) + "</p>";
    if (const std::string gain = gain_words(one); !gain.empty())
      text += "<p class=\"gain\">" + html_text(gain) + "</p>";
    text += "</li>\n";
  }
  return text + "</ol>\n";
}

// A strip as wide as the captured phase: roles by time, then the gaps.
std::string strip(const ProfilePhase& phase, const OperationColours& colours) {
  if (phase.captured_us <= 0) return "";
  constexpr std::size_t kNamed = 8;
  std::string parts;
  std::string legend;
  double rest = 0;
  const double busy_percent = std::min(100.0, phase.busy_us / phase.captured_us * 100);
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : phase.roles) rows.push_back(&row);
  std::ranges::stable_sort(rows, [](const ProfileRow* a, const ProfileRow* b) {
    return a->share_percent > b->share_percent;
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double percent = rows[i]->share_percent * busy_percent / 100;
    const int colour = colours.of(rows[i]->op);
    parts += fmt::format("<i class=\"b{}\" style=\"width:{}%\" title=\"{}: {} %\"></i>", colour,
                         coordinate(percent), html_text(rows[i]->name), figures(percent));
    if (i >= kNamed) {
      rest += percent;
    } else {
      legend += fmt::format("<li><i class=\"b{}\"></i>{} <em>{} %</em></li>\n", colour,
                            html_text(rows[i]->name), figures(percent));
    }
  }
  const double gaps = 100 - busy_percent;
  parts += fmt::format("<i class=\"gap\" style=\"width:{}%\" title=\"gaps: {} %\"></i>",
                       coordinate(gaps), figures(gaps));
  if (rest > 0) legend += "<li>other roles <em>" + figures(rest) + " %</em></li>\n";
  legend += "<li>gaps <em>" + figures(gaps) + " %</em></li>\n";
  std::string budget = "In operations " + time_text(phase.busy_us) + " of " +
                       time_text(phase.captured_us) + " captured";
  if (phase.roof_us)
    budget += "; every operation at its roof would take " + time_text(*phase.roof_us);
  const std::string title = phase.name == "prefill" ? "Prefill" : "Decode";
  return "<h3>" + title + "</h3>\n<div class=\"stack\">" + parts +
         "</div>\n<ul class=\"legend\">\n" + legend + "</ul>\n<p class=\"budget\">" + budget +
         ".</p>\n";
}

std::string roofline(const Profile& profile, const OperationColours& colours) {
  const std::string wide = roofline_svg(profile, colours, {});
  if (wide.empty()) return "<p>No kernel has both operations and bytes.</p>\n";
  std::string key =
      "<ul class=\"legend\"><li><svg><rect class=\"key\" width=\"12\" height=\"12\" rx=\"2\"/></svg>"
      "prefill</li><li><svg><circle class=\"key\" cx=\"6\" cy=\"6\" r=\"6\"/></svg>decode</li></ul>\n";
  std::string text =
      key + colours.legend() + wide +
      roofline_svg(profile, colours, {.width = 380, .height = 420, .css_class = "narrow"});
  if (const std::string absent = not_on_roofline(profile); !absent.empty())
    text += "<p class=\"budget\">" + html_text(absent) + "</p>\n";
  return text;
}

std::string decode(const Profile& profile) {
  const std::vector<std::string> sentences = decode_sentences(profile);
  if (sentences.empty()) return "<p>No token was decoded, or its bandwidth is not known.</p>\n";
  std::string text = "<div class=\"columns\">\n";
  for (const std::string& sentence : sentences) text += "<p>" + html_text(sentence) + "</p>\n";
  return text + "</div>\n";
}

}  // namespace

std::string profile_html(const Profile& profile) {
  const OperationColours colours(profile);
  std::string shares;
  std::string tables;
  std::string timelines = colours.legend();
  for (const ProfilePhase& phase : profile.phases) {
    shares += strip(phase, colours);
    tables += phase_section(phase, colours);
    timelines += timeline_figure(phase, colours);
  }
  return filled(embedded::page, {{"style", std::string(embedded::style)},
                                 {"script", std::string(embedded::script)},
                                 {"model", html_text(profile.model.name)},
                                 {"badge", profile.model.is_synthetic
                                               ? "<span class=\"badge\">synthetic weights</span>"
                                               : ""},
                                 {"facts", html_text(model_facts(profile.model))},
                                 {"device", html_text(profile.device.description)},
                                 {"date", html_text(profile.date)},
                                 {"command", html_text(profile.model.command)},
                                 {"headlines", cards(profile)},
                                 {"notes", notes(profile)},
                                 {"advice", advice(profile)},
                                 {"shares", shares},
                                 {"roofline", roofline(profile, colours)},
                                 {"tables", tables},
                                 {"timeline", timelines},
                                 {"decode", decode(profile)},
                                 {"fusion", fusion_table(profile) + layout_list(profile)}});
}

}  // namespace rooftile
