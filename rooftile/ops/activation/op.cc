// SPDX-License-Identifier: Apache-2.0
// The declaration of activation, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/core/expression.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/activation/activation.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::ops::activation {
namespace {

// Beyond it the lower tails are 0, and the reference has no error there.
constexpr double kTail = 64;

void meaning(const Problem& problem, Values& values) {
  const Expression& act = rooftile::activation(problem.option("act"));
  const Array& x = values["x"];
  Array& y = values["y"];
  resize_large(y.magnitude, y.values.size());
  for_each_element(y.values.size(), [&](std::size_t i) {
    const double value = act(x.values[i]);
    y.values[i] = value;
    // The last term is the reference's own: 1 + erf and 1 + tanh cancel in the lower tail.
    y.magnitude[i] = std::abs(value) + act.sensitivity(x.values[i]) +
                     1e-9 * std::min(std::abs(x.values[i]), kTail);
  });
}

Cost cost(const Problem& problem, const Values*) {
  const auto elements =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  Cost cost;
  cost[Unit::fp32] = elements * rooftile::activation(problem.option("act")).num_ops();
  cost.bytes_read = problem.bytes("x");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, 1);
  bound.absolute = 0x1p-126;
  bound.reason = "one rounding to " + std::string(name(problem.dtype(output))) +
                 " and a rounded exponent in f32: 4 of its roundoffs, times the condition number; "
                 "results below its normal range may be 0";
  return bound;
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},
      {"smoke", "rows=3 cols=100 x=f32 act=gelu"},
      {"ci", "rows=17 cols=1000 x=f32 act=gelu_tanh"},
      {"ci", "rows=5 cols=4096 x=bf16 y.alias=x"},
      {"ci", "rows=3 cols=40000 x=f32"},
      {"llama3_8b.prefill", "rows=2048 cols=14336 x=bf16"},
      {"llama3_8b.decode", "rows=1 cols=14336 x=bf16"},
      {"roof", "rows=4096 cols=4096 x=f32"},
      {"roof", "rows=4096 cols=4096 x=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    edge("rows=3 cols=0" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 511, 513, 1025})
      edge("rows=5 cols=" + std::to_string(cols) + dtype);
    for (const std::string& act : activation_names()) {
      edge("rows=5 cols=300 act=" + act + dtype);
      edge("rows=6 cols=130 data=extreme act=" + act + dtype);
      edge("rows=2 cols=33 data=zeros act=" + act + dtype);
    }
    edge("rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3" + dtype);
    edge("rows=5 cols=33 x.stride=1,5 y.stride=66,2" + dtype);
    edge("rows=5 cols=33 x.stride=0,1" + dtype);
    edge("rows=4 cols=70 y.alias=x act=gelu" + dtype);
  }
  edge("rows=4 cols=70 x=fp16 y=f32 act=tanh");
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/activation/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "activation",
    .summary = "An activation, element by element",
    .formula = "y[r,c] = act(x[r,c])",
    .source = "silu: Elfwing and others, 2017; gelu and its tanh form: Hendrycks and Gimpel, 2016",
    .axes = {{"rows", "independent rows"}, {"cols", "elements of a row"}},
    .args = {out("y", {"rows", "cols"}).like("x").alias({"x"}), in("x", {"rows", "cols"})},
    .options = {{.name = "act",
                 .kind = OptionKind::choice,
                 .default_value = "silu",
                 .help = "gelu is x Phi(x) by erf, gelu_tanh its approximation",
                 .choices = {activation_names().begin(), activation_names().end()}}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .cases = cases(),
    .why_these_inputs =
        "Normal data covers where the functions bend; extreme data spans the type, so that "
        "exponentials overflow and underflow, tails become subnormal and near 0 a difference of "
        "near-equal numbers would show. The error is bounded relative to the result and its condition "
        "number, not by a constant, so that a cheap approximation fails in the tails.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/activation/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::activation

namespace rooftile {

void activate(Stream& stream, const TensorView& y, const TensorView& x, std::string_view act) {
  const TensorView views[]{y, x};
  const OptionValue values[]{{"act", std::string(act)}};
  call(catalogue(), "activation", stream, views, values);
}

}  // namespace rooftile
