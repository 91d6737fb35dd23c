// SPDX-License-Identifier: Apache-2.0
#include "apps/rooftile/list_details.h"

#include <algorithm>

#include "rooftile/base/text.h"

namespace rooftile::cli {
namespace {

constexpr int kReadable = 100;  // columns for prose where the output has no width of its own

std::string dtype_names(const ArgDef& arg) {
  std::vector<std::string> names;
  for (const DType dtype : arg.dtypes) names.emplace_back(name(dtype));
  return join(names, "|");
}

std::string remarks(const ArgDef& arg) {
  std::vector<std::string> parts;
  if (!arg.help_text.empty()) parts.push_back(arg.help_text);
  if (!arg.default_dtype_of.empty()) parts.push_back("by default as " + arg.default_dtype_of);
  if (arg.is_optional) parts.emplace_back("optional");
  if (!arg.present_with.empty()) parts.push_back("goes with " + arg.present_with);
  if (!arg.may_alias.empty())
    parts.push_back("may share the memory of " + join(arg.may_alias, ", "));
  if (arg.may_be_scaled) parts.emplace_back("may have block scales");
  return join(parts, "; ");
}

std::string allowed(const OptionDef& option) {
  if (option.kind == OptionKind::choice) return join(option.choices, "|");
  const std::string kind = option.kind == OptionKind::integer ? "integer" : "number";
  const bool has_range = option.least != -HUGE_VAL || option.greatest != HUGE_VAL;
  return has_range ? kind + " from " + shortest(option.least) + " to " + shortest(option.greatest)
                   : kind;
}

class Details {
 public:
  Details(Session& session, const OpDef& op)
      : session_(session), op_(op), width_(session.width() > 0 ? session.width() : kReadable) {}

  void print() {
    session_.print(paint(op_.name, Style::bold, session_.has_colour()) + "  " + op_.summary + "\n");
    prose(op_.formula);
    if (!op_.source.empty()) prose("Source: " + op_.source);
    Columns axes({{"axis"}, {"from", 0, true}}, width_, session_.has_colour(), 2);
    for (const AxisDef& axis : op_.axes) axes.fit({{axis.name}});
    session_.print("\n" + axes.header());
    for (const AxisDef& axis : op_.axes)
      session_.print(
          axes.row({{axis.name, Style::bold}, {std::to_string(axis.least)}}, {axis.help}, true));
    print_arguments();
    print_options();
    print_sets();
    session_.print("\n");
    prose("Why these inputs: " + op_.why_these_inputs);
  }

 private:
  void prose(const std::string& text) {
    for (const std::string& line : wrap(text, static_cast<std::size_t>(width_ - 2)))
      session_.print("  " + line + "\n");
  }

  void print_arguments() {
    static constexpr const char* kRoles[]{"in", "out", "inout"};
    Columns columns({{"argument"}, {"role"}, {"axes"}, {"dtypes"}}, width_, session_.has_colour(),
                    2);
    const auto row = [&](const ArgDef& arg) {
      return std::vector<Cell>{{arg.name, Style::bold},
                               {kRoles[static_cast<std::size_t>(arg.role)]},
                               {join(arg.axes, ",")},
                               {dtype_names(arg)}};
    };
    for (const ArgDef& arg : op_.args) columns.fit(row(arg));
    session_.print("\n" + columns.header());
    for (const ArgDef& arg : op_.args) session_.print(columns.row(row(arg), {remarks(arg)}, true));
  }

  void print_options() {
    if (op_.options.empty()) return;
    Columns columns({{"option"}, {"default"}}, width_, session_.has_colour(), 2);
    for (const OptionDef& option : op_.options)
      columns.fit({{option.name}, {option.default_value}});
    session_.print("\n" + columns.header());
    for (const OptionDef& option : op_.options)
      session_.print(columns.row({{option.name, Style::bold}, {option.default_value}},
                                 {allowed(option) + ": " + option.help}, true));
  }

  void print_sets() {
    std::vector<std::string> sets;
    for (const Case& entry : op_.cases)
      if (std::ranges::find(sets, entry.set) == sets.end()) sets.push_back(entry.set);
    for (std::string& set : sets)
      set += " (" + std::to_string(std::ranges::count(op_.cases, set, &Case::set)) + ")";
    session_.print("\n");
    prose("Sets of cases: " + join(sets, ", "));
  }

  Session& session_;
  const OpDef& op_;
  int width_;
};

}  // namespace

void print_details(Session& session, const OpDef& op) { Details(session, op).print(); }

}  // namespace rooftile::cli
