// SPDX-License-Identifier: Apache-2.0
#include "python/declaration.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/core/problem.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/proof.h"

namespace rooftile::python {
namespace {

const char* role_name(Role role) {
  return role == Role::in ? "in" : role == Role::out ? "out" : "inout";
}

const char* kind_name(OptionKind kind) {
  return kind == OptionKind::number ? "number" : kind == OptionKind::integer ? "integer" : "choice";
}

bool have_same_strides(const Problem& a, const Problem& b) {
  return std::ranges::equal(a.args, b.args, [](const ArgChoice& one, const ArgChoice& two) {
    return one.strides == two.strides;
  });
}

// Whether another choice gives arguments other strides: an option for problems in words.
bool is_for_strides(const OpDef& op, const OptionDef& option) {
  if (option.kind != OptionKind::choice || op.cases.empty()) return false;
  ProblemText text = parse_problem_text(op.name + " " + op.cases.front().text);
  std::erase_if(text.assignments, [&](const auto& entry) { return entry.first == option.name; });
  const Problem usual = bind(op, text);
  text.assignments.emplace_back(option.name, "");
  return std::ranges::any_of(option.choices, [&](const std::string& choice) {
    text.assignments.back().second = choice;
    try {
      return !have_same_strides(usual, bind(op, text));
    } catch (const Error&) {
      return false;  // a choice that these dtypes do not have
    }
  });
}

nb::dict arg_dict(const ArgDef& arg) {
  nb::dict result;
  nb::list dtypes;
  for (const DType dtype : arg.dtypes) dtypes.append(name(dtype));
  result["name"] = arg.name;
  result["role"] = role_name(arg.role);
  result["axes"] = arg.axes;
  result["dtypes"] = dtypes;
  result["help"] = arg.help_text;
  result["dtype_like"] = arg.default_dtype_of;
  result["is_optional"] = arg.is_optional;
  result["present_with"] = arg.present_with;
  result["may_alias"] = arg.may_alias;
  return result;
}

nb::dict option_dict(const OpDef& op, const OptionDef& option) {
  nb::dict result;
  result["name"] = option.name;
  result["kind"] = kind_name(option.kind);
  result["default"] = option.default_value;
  result["help"] = option.help;
  result["choices"] = option.choices;
  result["least"] = option.least;
  result["greatest"] = option.greatest;
  result["is_for_strides"] = is_for_strides(op, option);
  return result;
}

}  // namespace

nb::dict declaration(const OpDef& op) {
  nb::list axes;
  nb::list args;
  nb::list options;
  for (const AxisDef& axis : op.axes) axes.append(nb::make_tuple(axis.name, axis.help));
  for (const ArgDef& arg : op.args) args.append(arg_dict(arg));
  for (const OptionDef& option : op.options) options.append(option_dict(op, option));
  nb::dict result;
  result["name"] = op.name;
  result["summary"] = op.summary;
  result["formula"] = op.formula;
  result["source"] = op.source;
  result["axes"] = axes;
  result["args"] = args;
  result["options"] = options;
  return result;
}

nb::list kernel_list(const Operation& operation) {
  nb::list result;
  for (const KernelDef* kernel : operation.kernels) {
    nb::dict entry;
    entry["name"] = kernel->name;
    entry["idea"] = kernel->idea;
    entry["target"] = name(kernel->target);
    entry["determinism"] = name(kernel->determinism);
    entry["code_hash"] = code_hash(*kernel);
    entry["calls_vendor_library"] = kernel->calls_vendor_library;
    result.append(entry);
  }
  return result;
}

}  // namespace rooftile::python
