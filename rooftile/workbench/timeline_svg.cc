// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostDrawn = 20000;
constexpr int kAxis = 18, kLayers = 20, kLane = 34, kGap = 4;
// A name is hidden while its box is narrower than it, at this width until a script knows better.
constexpr double kPageWidth = 1030, kCharacter = 6.4;

std::string tip(const ShownEvent& event) {
  std::string text =
      event.role + (event.layer >= 0 ? ", layer " + std::to_string(event.layer) : "") + "\n" +
      event.problem + "\n" + time_text(event.time_us) + " from " + time_text(event.start_us);
  if (event.time_us > 0 && event.bytes > 0)
    text +=
        "\n" + bytes_text(event.bytes) + ", " + rate_text(event.bytes / event.time_us * 1e6, "B/s");
  if (event.time_us > 0 && event.ops > 0)
    text += "\n" + rate_text(event.ops / event.time_us * 1e6, "FLOP/s");
  return text;
}

// A box that cuts off what does not fit into it.
std::string box(const std::string& css, double start, double width, int y, int height,
                const std::string& fill, const std::string& name, const std::string& title) {
  const bool is_small =
      width / 100 * kPageWidth < 8 + kCharacter * static_cast<double>(name.size());
  return fmt::format(
      "<svg class=\"{}{}\" data-w=\"{}\" x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\">{}"
      "<rect{} width=\"100%\" height=\"{}\"/><text x=\"4\" y=\"{}\">{}</text></svg>\n",
      css, is_small ? " small" : "", coordinate(width), coordinate(start), y, coordinate(width),
      height, title.empty() ? "" : "<title>" + html_text(title) + "</title>", fill, height,
      height / 2 + 4, html_text(name));
}

// Neighbouring operations of one layer.
std::string layer_bands(const ShownPass& pass, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count;) {
    const std::int64_t layer = pass.events[i].layer;
    const double start = pass.events[i].start_us;
    double end = start;
    for (; i < count && pass.events[i].layer == layer; ++i)
      end = std::max(end, pass.events[i].start_us + pass.events[i].time_us);
    if (layer < 0) continue;
    text +=
        box(layer % 2 == 0 ? "layer" : "layer odd", start / pass.time_us * 100,
            (end - start) / pass.time_us * 100, kAxis, kLayers - kGap, "", std::to_string(layer),
            "layer " + std::to_string(layer) + "\n" + time_text(end - start));
  }
  return text;
}

}  // namespace

std::string timeline_figure(const ProfilePhase& phase, const OperationColours& colours) {
  if (!phase.shown || phase.shown->events.empty() || phase.shown->time_us <= 0)
    return "<p>" + phase.name + ": no operation was captured.</p>\n";
  const ShownPass& pass = *phase.shown;
  const std::size_t count = std::min(kMostDrawn, pass.events.size());
  std::map<std::int64_t, int> lanes;
  for (const ShownEvent& event : pass.events) lanes.try_emplace(event.thread, 0);
  int lane = 0;
  for (auto& [thread, index] : lanes) index = lane++;
  const int height = kAxis + kLayers + lane * kLane;
  std::string text = fmt::format(
      "<div class=\"timeline\" data-us=\"{}\">\n<h3>{}: pass {}, {} token{}, {}</h3>\n"
      "<p class=\"tools\" hidden>Zoom <button class=\"out\" aria-label=\"{} timeline: further "
      "away\">−</button><button class=\"in\" aria-label=\"{} timeline: closer\">+</button><button "
      "class=\"all\">all</button> <span class=\"zoom\"></span></p>\n"
      "<div class=\"track\" tabindex=\"0\" role=\"group\" aria-label=\"{} timeline\"><svg height=\"{}\">\n"
      "<g class=\"axis\"></g>\n",
      coordinate(pass.time_us), phase.name, pass.index, pass.tokens, pass.tokens == 1 ? "" : "s",
      time_text(pass.time_us), phase.name, phase.name, phase.name, height);
  text += layer_bands(pass, count);
  for (std::size_t i = 0; i < count; ++i) {
    const ShownEvent& event = pass.events[i];
    text +=
        box("op", event.start_us / pass.time_us * 100, event.time_us / pass.time_us * 100,
            kAxis + kLayers + lanes.at(event.thread) * kLane, kLane - kGap,
            fmt::format(" class=\"f{}\"", colours.of_kernel(event.kernel)), event.role, tip(event));
  }
  text += "</svg></div>\n";
  if (count < pass.events.size())
    text += fmt::format("<p class=\"budget\">The first {} of {} operations are drawn.</p>\n", count,
                        pass.events.size());
  return text + "</div>\n";
}

}  // namespace rooftile
