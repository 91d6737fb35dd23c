// SPDX-License-Identifier: Apache-2.0
// The declaration of rmsnorm, and its typed calls.
#include "rooftile/op/op.h"

#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/rmsnorm/rmsnorm.h"

namespace rooftile::ops::rmsnorm {
namespace {

// What is normalised: with a residual the sum as it is stored, so that a later reader of it sees
// the same.
const Array& sum_of_inputs(const Problem& problem, Values& values) {
  const Array& x = values["x"];
  if (!problem.has("residual")) return x;
  const Array& residual = values["residual"];
  Array& sum = values["sum"];
  const DType dtype = problem.dtype("sum");
  for_each_element(sum.values.size(), [&](std::size_t i) {
    sum.values[i] = round_to(dtype, x.values[i] + residual.values[i]);
  });
  return sum;
}

void meaning(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.axis("rows");
  const std::int64_t cols = problem.axis("cols");
  const double eps = problem.number("eps");
  const double offset = problem.number("weight_offset");
  const bool is_early = problem.option("round") == "early";
  const DType dtype = problem.dtype("x");
  const Array& w = values["w"];
  Array& y = values["y"];
  const Array& x = sum_of_inputs(problem, values);
  for_each_row(rows, cols, [&](std::int64_t r) {
    double squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) squares += x.at(r, c) * x.at(r, c);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      double normalised = x.at(r, c) * scale;
      if (is_early) normalised = round_to(dtype, normalised);
      y.at(r, c) = normalised * (w[c] + offset);
    }
  });
}

Cost cost(const Problem& problem, const Values*) {
  const auto elements =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  Cost cost;
  cost[Unit::fp32] =
      elements * (problem.has("residual") ? 5 : 4);  // [add,] square, add, two scalings
  cost.bytes_read = problem.bytes("x") + problem.bytes("residual") + problem.bytes("w");
  cost.bytes_written = problem.bytes("y") + problem.bytes("sum");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  const DType dtype = problem.dtype(output);
  if (output == "sum")
    return {.ulps = 0.51, .accumulated = 0, .reason = "one addition, rounded once"};
  Tolerance bound = sum_tolerance(dtype, DType::f32, static_cast<double>(problem.axis("cols")));
  if (problem.option("round") == "early") {
    // The first rounding may fall on the other side of a tie: one ulp of x's dtype, relative.
    bound.accumulated += std::ldexp(1.0, -info(problem.dtype("x")).mantissa_bits);
    bound.reason += "; an early rounding to " + std::string(name(problem.dtype("x")));
  }
  return bound;
}

std::string invalid(const Problem& problem) {
  if (problem.option("round") == "early" && problem.has("residual") &&
      problem.dtype("sum") != problem.dtype("x"))
    return "round=early rounds to x's dtype, so sum must have it too";
  return "";
}

// Squares of x must be finite in f32's exponent range or be rescaled by the kernel; y is of w's
// size.
double extreme_limit(const Problem& problem, const ArgChoice& arg) {
  if (arg.name == "w") return 16;
  return info(problem.dtype("x")).max_finite / 4;
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},
      {"smoke", "rows=3 cols=100 x=f32"},
      {"ci", "rows=17 cols=1000 x=f32"},
      {"ci", "rows=17 cols=1000 x=bf16 w=f32"},
      {"ci", "rows=5 cols=4096 x=fp16 residual=fp16"},
      {"ci", "rows=64 cols=4096 x=bf16 residual=bf16 weight_offset=1"},
      {"llama3_8b.prefill", "rows=2048 cols=4096 x=bf16"},
      {"llama3_8b.decode", "rows=1 cols=4096 x=bf16"},
      {"llama3_8b.decode", "rows=64 cols=4096 x=bf16 residual=bf16"},
      {"roof", "rows=4096 cols=4096 x=f32"},
      {"roof", "rows=4096 cols=4096 x=bf16"},
      {"roof", "rows=65536 cols=128 x=f32"},
      {"roof", "rows=65536 cols=128 x=bf16"},
      {"demo", "rows=4096 cols=4096 x=f32"},
      {"demo", "rows=4096 cols=4096 x=bf16"},
  };
  for (const char* shape : {"rows=16384 cols=8192", "rows=4096 cols=4096", "rows=64 cols=8192"})
    for (const char* residual : {"", " residual=bf16"})
      list.push_back({"peers", std::string(shape) + " x=bf16" + residual});
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text)}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 255, 1025})
      edge("rows=3 cols=" + std::to_string(cols) + dtype + " seed=1");
    edge("rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3" + dtype);
    edge("rows=5 cols=33 x.stride=1,5" + dtype);
    edge("rows=5 cols=33 x.stride=0,1" + dtype);
    edge("rows=4 cols=96 y.alias=x" + dtype);
    edge("rows=4 cols=96 residual=" + std::string(x) + " sum.alias=residual" + dtype);
    edge("rows=5 cols=96 residual=" + std::string(x) + " w=f32" + dtype);
    edge("rows=5 cols=67 residual=" + std::string(x) + dtype);
    for (const char* cols : {"130", "136"})
      edge("rows=6 cols=" + std::string(cols) + " data=extreme" + dtype);
    edge("rows=6 cols=130 data=zeros" + dtype);
    edge("rows=6 cols=130 round=early weight_offset=1" + dtype);
  }
  edge("rows=4 cols=70 x=bf16 y=f32 w=fp16");
  edge("rows=4 cols=70 x=fp16 y=bf16 w=f32 w.offset=1");
  edge("rows=4 cols=70 x=bf16 residual=f32 sum=f32");
  edge("rows=2 cols=10000 x=bf16 residual=bf16 w=f32");  // more than registers hold
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");      // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/rmsnorm/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "rmsnorm",
    .summary = "Root-mean-square normalisation of rows, with an optional residual add",
    .formula =
        "y[r,c] = s[r,c] / sqrt(mean_c(s[r,c]^2) + eps) * (w[c] + weight_offset), "
        "s = x or sum = x + residual",
    .source = "Zhang and Sennrich, Root Mean Square Layer Normalization, 2019",
    .axes = {{"rows", "independent rows (tokens)"}, {"cols", "elements of a row", 1}},
    .args = {out("y", {"rows", "cols"}).like("x").alias({"x", "residual"}),
             out("sum", {"rows", "cols"})
                 .like("x")
                 .with("residual")
                 .alias({"x", "residual"})
                 .help("x + residual, rounded"),
             in("x", {"rows", "cols"}), in("residual", {"rows", "cols"}).like("x").optional(),
             in("w", {"cols"}).like("x").help("weight")},
    .options = {{.name = "eps", .default_value = "1e-6", .help = "inside the root", .least = 0},
                {.name = "weight_offset",
                 .kind = OptionKind::integer,
                 .default_value = "0",
                 .help = "added to w in f32, after widening: 1 where the model stores w - 1",
                 .least = 0,
                 .greatest = 1},
                {.name = "round",
                 .kind = OptionKind::choice,
                 .default_value = "late",
                 .help = "early: the normalised value is rounded to x's dtype before the weight "
                         "(Llama); late: one rounding at the end (Gemma)",
                 .choices = {"late", "early"}}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Normal data gives a root near 1 and shows wrong reductions; extreme data spans the type, so "
        "that squares overflow and underflow f32 and must be rescaled; zeros leave eps alone under "
        "the root. Columns stand on both sides of every vector width; strides, offsets and shared "
        "memory are those of slices, transposes, broadcasts and in-place engines.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/rmsnorm/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::rmsnorm

namespace rooftile {

void add_rmsnorm(Stream& stream, const TensorView& y, const TensorView& sum, const TensorView& x,
                 const TensorView& residual, const TensorView& w, const RmsnormOptions& options) {
  const TensorView views[]{y, sum, x, residual, w};
  const OptionValue values[]{{"eps", shortest(options.eps)},
                             {"weight_offset", std::to_string(options.weight_offset)},
                             {"round", options.round_early ? "early" : "late"}};
  call(catalogue(), "rmsnorm", stream, views, values);
}

void rmsnorm(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& w,
             const RmsnormOptions& options) {
  add_rmsnorm(stream, y, {}, x, {}, w, options);
}

}  // namespace rooftile
