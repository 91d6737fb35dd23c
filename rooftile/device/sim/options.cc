// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/options.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::array<std::string_view, 3> kOrders{"in_order", "reversed", "random"};
constexpr std::array<std::string_view, 3> kCompletions{"early", "late", "random"};

template <class Enum>
Enum find(const std::array<std::string_view, 3>& names, std::string_view what,
          std::string_view given) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == given) return static_cast<Enum>(i);
  fail_input(unknown_name(what, given, {names.begin(), names.end()}));
}

}  // namespace

std::string text(const SimOptions& options) {
  return "order=" + std::string(kOrders[static_cast<std::size_t>(options.order)]) +
         " completion=" + std::string(kCompletions[static_cast<std::size_t>(options.completion)]) +
         " seed=" + std::to_string(options.seed) + (options.check ? "" : " check=off");
}

SimOptions parse_sim_options(const std::string& given) {
  SimOptions options;
  for (const std::string& word : split(given, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "order") {
      options.order = find<SimOrder>(kOrders, "order", value);
    } else if (name == "completion") {
      options.completion = find<SimCompletion>(kCompletions, "completion", value);
    } else if (name == "check") {
      if (value != "on" && value != "off") fail_input("check='" + value + "': on or off");
      options.check = value == "on";
    } else if (name == "seed") {
      const std::optional<double> seed = parse_number(value);
      if (!seed || *seed < 0 || *seed != std::floor(*seed))
        fail_input("seed='" + value + "' is no number from 0");
      options.seed = static_cast<std::uint64_t>(*seed);
    } else {
      fail_input(
          unknown_name("word of a schedule", name, {"order", "completion", "seed", "check"}));
    }
  }
  return options;
}

}  // namespace rooftile
