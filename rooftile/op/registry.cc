// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/registry.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/storage.h"

namespace rooftile {

const KernelDef& Operation::kernel(std::string_view name) const {
  if (name == reference->name) return *reference;
  std::vector<std::string> known;
  for (const KernelDef* kernel : kernels) {
    if (kernel->name == name) return *kernel;
    known.push_back(kernel->name);
  }
  known.push_back(reference->name);
  fail_input(unknown_name("kernel of " + def->name, name, known));
}

void Registry::add(const OpDef& op) {
  const std::vector<std::string> errors = declaration_errors(op);
  if (!errors.empty()) fail_input(join(errors, "; "));
  for (const Operation& known : operations_)
    if (known.def->name == op.name) fail_input("operation '" + op.name + "' is declared twice");
  operations_.push_back(
      {.def = &op, .reference = std::make_shared<const KernelDef>(make_reference(op))});
}

void Registry::add(const KernelDef& kernel) {
  if (!kernel.supports || !kernel.prepare)
    fail_input("kernel '" + kernel.id() + "' lacks supports or prepare");
  const Operation& found = operation(kernel.op);
  auto& kernels = const_cast<Operation&>(found).kernels;
  const auto same = [&](const KernelDef* known) { return known->name == kernel.name; };
  if (std::ranges::any_of(kernels, same) || kernel.name == found.reference->name)
    fail_input("kernel '" + kernel.id() + "' is declared twice");
  kernels.push_back(&kernel);
}

const Operation& Registry::operation(std::string_view name) const {
  std::vector<std::string> known;
  for (const Operation& operation : operations_) {
    if (operation.def->name == name) return operation;
    known.push_back(operation.def->name);
  }
  fail_input(unknown_name("operation", name, known));
}

Problem Registry::bind(std::string_view line) const {
  const ProblemText text = parse_problem_text(line);
  const Operation& found = operation(text.op);
  if (!text.kernel.empty()) (void)found.kernel(text.kernel);
  return rooftile::bind(*found.def, text);
}

KernelDef make_reference(const OpDef& op) {
  KernelDef reference;
  reference.op = op.name;
  reference.name = "reference";
  reference.idea = "the meaning itself: plain loops in double";
  reference.target = Target::cpu;
  reference.determinism = Determinism::repeatable;
  reference.supports = [](const Problem&, const DeviceProperties&) { return supported(); };
  reference.prepare = [&op](const Problem&, Device&, const Config&) {
    return Prepared{.run = [&op](const Context&, const Arguments& args) {
      const Problem& problem = args.problem();
      Values values(problem);
      for (const ArgDef& arg : op.args)
        if (arg.role != Role::out && problem.has(arg.name))
          load_view(args[arg.name], values[arg.name].values);
      op.meaning(problem, values);
      for (const ArgDef& arg : op.args)
        if (arg.role != Role::in && problem.has(arg.name))
          store_view(values[arg.name].values, args[arg.name]);
    }};
  };
  return reference;
}

}  // namespace rooftile
