// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/op.h"

#include <algorithm>
#include <array>
#include <set>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

ArgDef make_arg(Role role, std::string name, std::vector<std::string> axes) {
  ArgDef arg;
  arg.role = role;
  arg.name = std::move(name);
  arg.axes = std::move(axes);
  arg.dtypes = common_floats();
  return arg;
}

void check_names(const OpDef& op, std::vector<std::string>& errors) {
  // Axes, arguments and options share one name space: a problem's line does not tell them apart.
  std::set<std::string> names{"data", "seed"};
  const auto add = [&](const std::string& name) {
    if (name.empty() || name.find_first_of(" =./") != std::string::npos)
      errors.push_back("'" + name + "' is not a name");
    if (!names.insert(name).second) errors.push_back("'" + name + "' is declared twice");
  };
  for (const AxisDef& axis : op.axes) add(axis.name);
  for (const AxisDef& axis : op.axes) {
    const ArgDef* arg = op.find_arg(axis.only_of);
    if (!axis.only_of.empty() && (arg == nullptr || !arg->is_optional))
      errors.push_back("axis '" + axis.name + "' is of '" + axis.only_of +
                       "', which is no optional argument");
  }
  for (const ArgDef& arg : op.args) add(arg.name);
  for (const OptionDef& option : op.options) add(option.name);
}

void check_args(const OpDef& op, std::vector<std::string>& errors) {
  bool has_output = false;
  for (const ArgDef& arg : op.args) {
    has_output |= arg.role != Role::in;
    for (const std::string& axis : arg.axes)
      if (std::ranges::none_of(op.axes, [&](const AxisDef& a) { return a.name == axis; }))
        errors.push_back("argument '" + arg.name + "' has unknown axis '" + axis + "'");
    for (const std::string* other : {&arg.default_dtype_of, &arg.present_with})
      if (!other->empty() && op.find_arg(*other) == nullptr)
        errors.push_back("argument '" + arg.name + "' refers to unknown '" + *other + "'");
    for (const std::string& other : arg.may_alias)
      if (op.find_arg(other) == nullptr)
        errors.push_back("argument '" + arg.name + "' may alias unknown '" + other + "'");
    if (arg.dtypes.empty()) errors.push_back("argument '" + arg.name + "' allows no dtype");
  }
  if (!has_output) errors.emplace_back("no argument is an output");
}

// Whether dtypes and presence can be settled one argument after another.
bool is_circular(const OpDef& op, std::string ArgDef::* link) {
  for (const ArgDef& start : op.args) {
    const ArgDef* arg = &start;
    for (std::size_t steps = 0; arg != nullptr && !(arg->*link).empty(); ++steps) {
      if (steps > op.args.size()) return true;
      arg = op.find_arg(arg->*link);
    }
  }
  return false;
}

void check_options(const OpDef& op, std::vector<std::string>& errors) {
  for (const OptionDef& option : op.options) {
    const std::string& value = option.default_value;
    const auto number = parse_number(value);
    const bool is_good = option.kind == OptionKind::choice
                             ? std::ranges::find(option.choices, value) != option.choices.end()
                             : number && *number >= option.least && *number <= option.greatest &&
                                   (option.kind == OptionKind::number || parse_int(value));
    if (!is_good)
      errors.push_back("option '" + option.name + "' does not allow its default '" + value + "'");
  }
}

}  // namespace

ArgDef in(std::string name, std::vector<std::string> axes) {
  return make_arg(Role::in, std::move(name), std::move(axes));
}
ArgDef out(std::string name, std::vector<std::string> axes) {
  return make_arg(Role::out, std::move(name), std::move(axes));
}
ArgDef inout(std::string name, std::vector<std::string> axes) {
  return make_arg(Role::inout, std::move(name), std::move(axes));
}

std::vector<DType> common_floats() { return {DType::f32, DType::bf16, DType::fp16}; }

std::vector<DType> floats_and_blocks() {
  std::vector<DType> types = common_floats();
  for (const DTypeInfo& type : dtypes())
    if (type.is_block()) types.push_back(type.dtype);
  return types;
}

std::string_view name(Determinism determinism) {
  static constexpr std::array<std::string_view, 3> kNames{"any", "repeatable", "batch_invariant"};
  return kNames.at(static_cast<std::size_t>(determinism));
}

const ArgDef* OpDef::find_arg(std::string_view arg_name) const {
  const auto found =
      std::ranges::find_if(args, [&](const ArgDef& arg) { return arg.name == arg_name; });
  return found == args.end() ? nullptr : &*found;
}

std::vector<std::string> declaration_errors(const OpDef& op) {
  std::vector<std::string> errors;
  check_names(op, errors);
  check_args(op, errors);
  check_options(op, errors);
  if (is_circular(op, &ArgDef::default_dtype_of) || is_circular(op, &ArgDef::present_with))
    errors.emplace_back("arguments refer to each other in a circle");
  if (!op.batch_axis.empty() &&
      std::ranges::none_of(op.axes, [&](const AxisDef& a) { return a.name == op.batch_axis; }))
    errors.push_back("unknown batch axis '" + op.batch_axis + "'");
  if (!op.meaning) errors.emplace_back("no meaning");
  if (!op.cost) errors.emplace_back("no cost");
  if (!op.tolerance) errors.emplace_back("no tolerance");
  if (op.cases.empty()) errors.emplace_back("no cases");
  if (op.why_these_inputs.empty()) errors.emplace_back("no why_these_inputs");
  for (std::string& error : errors) error = "operation '" + op.name + "': " + error;
  return errors;
}

}  // namespace rooftile
