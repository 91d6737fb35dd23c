// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/bind.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/bind_args.h"

namespace rooftile {
namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 48;

std::vector<std::string> all_names(const OpDef& op) {
  std::vector<std::string> names;
  for (const AxisDef& axis : op.axes) names.push_back(axis.name);
  for (const ArgDef& arg : op.args) names.push_back(arg.name);
  for (const OptionDef& option : op.options) names.push_back(option.name);
  names.insert(names.end(), {"data", "seed"});
  return names;
}

void check_names(const OpDef& op, Assignments& given) {
  const std::vector<std::string> known = all_names(op);
  for (const auto& [name, value] : given) {
    const std::string base = name.substr(0, name.find('.'));
    if (std::ranges::find(known, base) == known.end())
      fail_input(op.name + ": " + unknown_name("axis, argument or option", base, known));
    if (base != name && op.find_arg(base) == nullptr)
      fail_input(op.name + ": '" + name + "': only arguments have attributes");
  }
}

std::int64_t bind_axis(const OpDef& op, const AxisDef& axis, const Problem& earlier,
                       Assignments& given) {
  auto text = take(given, axis.name);
  if (!text && axis.default_from) text = std::to_string(axis.default_from(earlier));
  if (!text) {
    if (axis.default_extent) return *axis.default_extent;
    std::vector<std::string> needed;
    for (const AxisDef& other : op.axes)
      if (!other.default_extent && !other.default_from) needed.push_back(other.name);
    fail_input(op.name + ": axis '" + axis.name + "' is missing; it needs " + join(needed, ", "));
  }
  const auto extent = parse_int(*text);
  if (!extent || *extent > kMostExtent)
    fail_input(op.name + ": " + axis.name + "='" + *text +
               "': expected a whole number of at most 2^48");
  if (*extent < axis.least)
    fail_input(op.name + ": " + axis.name + "=" + *text + ": must be at least " +
               std::to_string(axis.least));
  return *extent;
}

// Whether the line names the argument, itself or an attribute of it.
bool names_argument(const Assignments& given, const std::string& arg) {
  return std::ranges::any_of(given, [&](const auto& entry) {
    return entry.first.substr(0, entry.first.find('.')) == arg;
  });
}

void bind_axes(const OpDef& op, Problem& problem, Assignments& given) {
  for (const AxisDef& axis : op.axes) {
    const bool is_absent = !axis.only_of.empty() && !names_argument(given, axis.only_of);
    if (is_absent && names_argument(given, axis.name))
      fail_input(op.name + ": axis '" + axis.name + "' is one of argument '" + axis.only_of +
                 "', which is absent");
    if (!is_absent) problem.axes.emplace_back(axis.name, bind_axis(op, axis, problem, given));
  }
}

std::string canonical_option(const OpDef& op, const OptionDef& option, const std::string& value) {
  const std::string given = op.name + ": " + option.name + "='" + value + "': ";
  if (option.kind == OptionKind::choice) {
    if (std::ranges::find(option.choices, value) == option.choices.end())
      fail_input(op.name + ": " + unknown_name(option.name, value, option.choices));
    return value;
  }
  const auto number = parse_number(value);
  if (!number || (option.kind == OptionKind::integer && !parse_int(value)))
    fail_input(given + "expected a " +
               (option.kind == OptionKind::integer ? "whole number" : "number"));
  if (!(*number >= option.least && *number <= option.greatest))
    fail_input(given + "must lie in [" + shortest(option.least) + ", " + shortest(option.greatest) +
               "]");
  return shortest(*number);
}

OptionChoice bind_option(const OpDef& op, const OptionDef& option, Assignments& given) {
  const std::string standard = canonical_option(op, option, option.default_value);
  const auto text = take(given, option.name);
  if (!text) return {.name = option.name, .value = standard};
  const std::string value = canonical_option(op, option, *text);
  return {.name = option.name, .value = value, .is_default = value == standard};
}

void bind_data(const OpDef& op, Problem& problem, Assignments& given) {
  static const std::vector<std::string> kKinds{"randn", "uniform", "extreme", "zeros"};
  if (const auto data = take(given, "data")) {
    if (std::ranges::find(kKinds, *data) == kKinds.end())
      fail_input(op.name + ": " + unknown_name("data", *data, kKinds));
    problem.data = *data;
  }
  if (const auto seed = take(given, "seed")) {
    const auto number = parse_int(*seed);
    if (!number || *number < 0)
      fail_input(op.name + ": seed='" + *seed + "': expected a whole number of at least 0");
    problem.seed = static_cast<std::uint64_t>(*number);
  }
}

void check_meaning(const OpDef& op, const Problem& problem) {
  if (!op.invalid) return;
  if (const std::string reason = op.invalid(problem); !reason.empty())
    fail_input(op.name + ": " + reason);
}

// The extent that `views` give to each axis; they must agree.
void read_axes(const OpDef& op, std::span<const TensorView> views, Assignments& given) {
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const ArgDef& arg = op.args[i];
    if (!views[i].is_present()) continue;
    if (views[i].shape.rank() != static_cast<int>(arg.axes.size()))
      fail_input(op.name + ": argument '" + arg.name + "' has shape " + to_string(views[i].shape) +
                 ", expected axes " + join(arg.axes, ", "));
    for (int d = 0; d < views[i].shape.rank(); ++d) {
      const std::string& axis = arg.axes[static_cast<std::size_t>(d)];
      const std::string extent = std::to_string(views[i].shape[d]);
      const auto known =
          std::ranges::find_if(given, [&](const auto& entry) { return entry.first == axis; });
      if (known == given.end()) {
        given.emplace_back(axis, extent);
      } else if (known->second != extent) {
        fail_input(op.name + ": axis '" + axis + "' is " + known->second + ", but argument '" +
                   arg.name + "' has shape " + to_string(views[i].shape));
      }
    }
  }
}

}  // namespace

std::optional<std::string> take(Assignments& given, std::string_view name) {
  const auto found =
      std::ranges::find_if(given, [&](const auto& entry) { return entry.first == name; });
  if (found == given.end()) return std::nullopt;
  std::string value = std::move(found->second);
  given.erase(found);
  return value;
}

Problem bind(const OpDef& op, const ProblemText& text) {
  Assignments given = text.assignments;
  check_names(op, given);
  Problem problem;
  problem.op = op.name;
  problem.kernel = text.kernel;
  bind_axes(op, problem, given);
  for (const OptionDef& option : op.options)
    problem.options.push_back(bind_option(op, option, given));
  bind_data(op, problem, given);
  bind_args(op, problem, given);
  check_meaning(op, problem);
  return problem;
}

Problem bind(const OpDef& op, std::span<const TensorView> views,
             std::span<const OptionValue> options) {
  if (views.size() != op.args.size())
    throw Error(ErrorCode::internal, op.name + ": called with the wrong number of tensors");
  ProblemText text{.op = op.name};
  for (const OptionValue& option : options)
    text.assignments.emplace_back(option.name, option.value);
  read_axes(op, views, text.assignments);
  for (std::size_t i = 0; i < views.size(); ++i) add_view(op, views, i, text.assignments);
  return bind(op, text);
}

}  // namespace rooftile
