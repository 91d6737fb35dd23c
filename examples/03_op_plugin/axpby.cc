// SPDX-License-Identifier: Apache-2.0
// The operation axpby: a scaled sum of two vectors, declared as the library declares its own. From
// this come its verification, its benchmark and its place on the roofline.
#include <rooftile/op/plugin.h>

#include <cmath>
#include <string>
#include <vector>

using namespace rooftile;

extern const KernelDef cpu_blocks;  // cpu_blocks.cc

namespace {

// The only place that defines the operation: plain loops in double, rounded to y's dtype
// afterwards.
void meaning(const Problem& problem, Values& values) {
  const double alpha = problem.number("alpha");
  const double beta = problem.number("beta");
  Array& y = values["y"];
  y.magnitude.resize(y.values.size());
  for (std::int64_t i = 0; i < problem.axis("n"); ++i) {
    const double x = alpha * values["x"][i];
    const double z = beta * values["z"][i];
    y[i] = x + z;
    // Where the two cancel, rounding errors are relative to them, not to what is left.
    y.magnitude[static_cast<std::size_t>(i)] = std::abs(x) + std::abs(z);
  }
}

Cost cost(const Problem& problem, const Values*) {
  Cost cost;
  cost[Unit::fp32] = 3 * static_cast<double>(problem.axis("n"));  // two products, one sum
  cost.bytes_read = problem.bytes("x") + problem.bytes("z");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem&, const std::string&) {
  return {.ulps = 0.51,
          .accumulated = std::ldexp(3.0, -24),
          .reason = "two products and a sum in f32, then one rounding to y's dtype"};
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "n=64 x=bf16"},
      {"smoke", "n=100 x=f32 alpha=-2 beta=0.5"},
      {"ci", "n=100003 x=f32 alpha=0.1"},
      {"ci", "n=100003 x=bf16 z=f32 y=f32"},
      {"roof", "n=16M x=f32"},
  };
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text)}); };
  for (const std::string x : {"f32", "bf16", "fp16"}) {
    for (const int n : {0, 1, 7, 16, 17, 4097}) edge("x=" + x + " n=" + std::to_string(n));
    edge("n=33 x.stride=2 y.stride=3 z.offset=1 x=" + x);
    edge("n=33 x.stride=0 z.stride=-1 x=" + x);
    edge("n=33 y.alias=x alpha=3 x=" + x);
    edge("n=33 y.alias=z beta=-1 x=" + x);
    edge("n=130 data=extreme beta=-1 x=" + x);
    edge("n=130 data=zeros x=" + x);
  }
  return list;
}

const OpDef op{
    .name = "axpby",
    .summary = "A scaled sum of two vectors",
    .formula = "y[i] = alpha * x[i] + beta * z[i]",
    .source = "BLAS Technical Forum standard, 2001: axpby",
    .axes = {{"n", "elements"}},
    .args = {out("y", {"n"}).like("x").alias({"x", "z"}), in("x", {"n"}), in("z", {"n"}).like("x")},
    .options = {{.name = "alpha", .default_value = "1", .help = "of x", .least = -4, .greatest = 4},
                {.name = "beta", .default_value = "1", .help = "of z", .least = -4, .greatest = 4}},
    .batch_axis = "n",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    // Twice 4 times this is still finite.
    .extreme_limit =
        [](const Problem& problem, const ArgChoice& arg) {
          return info(problem.dtype(arg.name)).max_finite / 16;
        },
    .cases = cases(),
    .why_these_inputs =
        "Every element is independent: what goes wrong is the last partial block, a "
        "stride, an output in the place of an input, and a sum that cancels.",
};

}  // namespace

ROOFTILE_PLUGIN(registry) {
  registry.add(op);
  registry.add(cpu_blocks);
}
