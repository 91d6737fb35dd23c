// SPDX-License-Identifier: Apache-2.0
// An operation that exists for tests only: it uses every feature of a declaration once.
//   y[r,c] = act(scale * x[r,c] + bias[c]);  m[r] = number of elements, where counts are asked for
#pragma once

#include <string>

#include "rooftile/base/error.h"
#include "rooftile/core/expression.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/op.h"
#include "rooftile/op/registry.h"

namespace rooftile {

inline OpDef make_test_op() {
  OpDef op;
  op.name = "scale";
  op.summary = "scales rows";
  op.formula = "y[r,c] = act(scale * x[r,c] + bias[c])";
  op.axes = {{"rows", "rows"}, {"cols", "columns", 1}, {"groups", "of columns", 1, 1}};
  op.args = {out("y", {"rows", "cols"}).like("x").alias({"x", "z"}),
             in("x", {"rows", "cols"}),
             in("z", {"rows", "cols"}).like("x").optional(),
             in("bias", {"cols"}).types({DType::f32, DType::bf16}).optional(),
             in("bias_scale", {"cols"}).types({DType::f32}).with("bias"),
             in("codes", {"rows", "cols"})
                 .types({DType::e2m1, DType::e4m3, DType::i4, DType::u4, DType::q4_1, DType::q4_k})
                 .optional()
                 .scaled()};
  op.options = {{.name = "factor", .default_value = "2", .least = 0, .greatest = 100},
                {.name = "times",
                 .kind = OptionKind::integer,
                 .default_value = "1",
                 .least = -3,
                 .greatest = 3},
                {.name = "act",
                 .kind = OptionKind::choice,
                 .default_value = "none",
                 .choices = {"none", "relu", "gelu"}}};
  op.batch_axis = "rows";
  op.meaning = [](const Problem& problem, Values& values) {
    const Expression& act = activation(problem.option("act"));
    for (std::int64_t i = 0; i < num_elements(values["x"].shape); ++i)
      values["y"][i] = act(problem.number("factor") * values["x"][i]);
  };
  op.cost = [](const Problem& problem, const Values*) {
    Cost cost;
    cost.bytes_read = problem.bytes("x");
    cost.bytes_written = problem.bytes("y");
    return cost;
  };
  op.tolerance = [](const Problem& problem, const std::string& output) {
    return sum_tolerance(problem.dtype(output), DType::f32, 1);
  };
  op.invalid = [](const Problem& problem) -> std::string {
    return problem.axis("cols") % problem.axis("groups") != 0 ? "groups must divide cols" : "";
  };
  op.cases = {{"smoke", "rows=2 cols=3"}};
  op.why_these_inputs = "it is a test";
  return op;
}

/// One for the whole program: problems refer to nothing, registries and kernels to this.
inline const OpDef& test_op() {
  static const OpDef op = make_test_op();
  return op;
}

inline Problem test_problem(const std::string& line) {
  return bind(test_op(), parse_problem_text("scale " + line));
}

/// The message of the bad_input that `line` is refused with; empty when it is taken.
inline std::string refusal_of(const std::string& line) {
  try {
    test_problem(line);
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_input ? error.what() : "another error";
  }
  return "";
}

/// A kernel of the test operation that does what the meaning says for unit strides in f32.
inline KernelDef test_kernel(const std::string& name) {
  KernelDef kernel{.op = "scale",
                   .name = name,
                   .idea = "",
                   .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
                   .prepare = {}};
  kernel.prepare = [](const Problem& problem, Device&, const Config&) {
    const auto factor = static_cast<float>(problem.number("factor"));
    return Prepared{.run = [factor](const Context&, const Arguments& args) {
      const TensorView& x = args["x"];
      for (std::int64_t i = 0; i < num_elements(x.shape); ++i)
        args["y"].as<float>()[i] = factor * x.as<const float>()[i];
    }};
  };
  return kernel;
}

}  // namespace rooftile
