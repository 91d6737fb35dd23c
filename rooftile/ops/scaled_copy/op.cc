// SPDX-License-Identifier: Apache-2.0
// The declaration of scaled_copy, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <iterator>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/scaled_copy/scaled_copy.h"

namespace rooftile::ops::scaled_copy {
namespace {

bool is_fp8(DType dtype) { return dtype == DType::e4m3 || dtype == DType::e5m2; }

// What fp8 becomes beyond its range; wider types are compare()'s matter.
double bounded(DType dtype, double value, Overflow overflow) {
  if (!is_fp8(dtype) || std::abs(value) <= info(dtype).max_finite) return value;
  std::uint8_t code = 0;
  store_element(dtype, &code, 0, value, overflow);
  return load_element(dtype, &code, 0);
}

void meaning(const Problem& problem, Values& values) {
  const auto alpha = static_cast<float>(problem.number("alpha"));
  const Overflow overflow =
      problem.option("overflow") == "special" ? Overflow::to_special : Overflow::saturate;
  const DType dtype = problem.dtype("y");
  const Array& x = values["x"];
  Array& y = values["y"];
  for_each_element(y.values.size(), [&](std::size_t i) {
    y.values[i] = bounded(dtype, double{alpha} * x.values[i], overflow);
  });
}

Cost cost(const Problem& problem, const Values*) {
  Cost cost;
  cost[Unit::fp32] =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  cost.bytes_read = problem.bytes("x");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  if (problem.number("alpha") == 1) return {.ulps = 0.5, .reason = "rounded at most once"};
  if (problem.dtype(output) == DType::f32)
    return {.ulps = 0.5, .reason = "one f32 product, correctly rounded"};
  return {.ulps = 0.51, .reason = "one f32 product, rounded once more"};
}

// The largest number of x's type whose product stays finite in f32 and in y's type.
double most_of(const Problem& problem) {
  const double alpha = std::max(1.0, std::abs(problem.number("alpha")));
  return std::min(info(problem.dtype("x")).max_finite,
                  info(problem.dtype("y")).max_finite / alpha) /
         4;
}

// Extreme: all magnitudes, with what is no number, zeros of both signs and both sides of the ends
// of fp8 between them.
void generate_x(const Problem& problem, const Rng& rng, const Values&, std::vector<double>& x) {
  const double special[]{HUGE_VAL, -HUGE_VAL, std::nan(""), -0.0,  0.0,    448, 464,
                         465,      -1000,     57344,        61439, -61440, 1e30};
  const double least = ulp_of(problem.dtype("x"), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (problem.data == "zeros")
      x[i] = i % 2 == 0 ? 0.0 : -0.0;
    else if (problem.data == "uniform")
      x[i] = 2 * rng.uniform(i) - 1;
    else if (problem.data != "extreme")
      x[i] = rng.normal(i);
    else if (i % 5 == 4)
      x[i] = special[rng.below(i, std::size(special))];
    else
      x[i] = (rng.bits(2 * i + 1) & 1 ? 1 : -1) *
             std::exp2(std::log2(least) + rng.uniform(2 * i) * std::log2(most_of(problem) / least));
  }
}

std::vector<DType> copied_types() {
  std::vector<DType> types = common_floats();
  types.insert(types.end(), {DType::e4m3, DType::e5m2});
  return types;
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},
      {"smoke", "rows=3 cols=100 x=f32 alpha=-2.5"},
      {"ci", "rows=17 cols=1000 x=f32 alpha=0.3"},
      {"ci", "rows=5 cols=4096 x=bf16 y=f32"},
      {"ci", "rows=3 cols=40000 x=f32 y=fp16"},
      {"roof", "rows=4096 cols=4096 x=f32"},
      {"roof", "rows=4096 cols=4096 x=bf16"},
      {"roof", "rows=16384 cols=8192 x=f32"},
      {"roof", "rows=16384 cols=8192 x=bf16"},
      {"roof", "rows=16384 cols=8192 x=bf16 y=e4m3"},
      {"roof", "rows=16384 cols=8192 x=f32 y=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    edge("rows=3 cols=0" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 511, 513, 1025})
      edge("rows=5 alpha=0.7 cols=" + std::to_string(cols) + dtype);
    edge("rows=1000 cols=3" + dtype);
    edge("rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3" + dtype);
    edge("rows=5 cols=48 x.stride=64,1 y.stride=56,1 x.offset=8" + dtype);
    edge("rows=5 cols=33 x.stride=1,5 y.stride=1,6" + dtype);
    edge("rows=5 cols=33 x.stride=0,1" + dtype);
    edge("rows=5 cols=33 x.stride=0,0" + dtype);
    edge("rows=4 cols=96 y.alias=x alpha=3" + dtype);
    edge("rows=6 cols=130 data=extreme alpha=0.001" + dtype);
    edge("rows=6 cols=130 data=extreme" + dtype);
    edge("rows=6 cols=130 data=zeros alpha=-1" + dtype);
    edge("rows=6 cols=130 alpha=0" + dtype);
    for (const char* y : {"f32", "bf16", "fp16"})
      edge("rows=4 cols=70 alpha=1.1 y=" + std::string(y) + dtype);
  }
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  for (const char* narrow : {"e4m3", "e5m2"}) {
    for (const char* other : {"f32", "bf16", "fp16", "e4m3", "e5m2"})
      for (const char* data : {"randn", "extreme"}) {
        const std::string pair = " data=" + std::string(data);
        edge("rows=6 cols=136 x=" + std::string(other) + " y=" + narrow + pair);
        edge("rows=5 cols=33 overflow=special alpha=2 x=" + std::string(other) + " y=" + narrow +
             pair);
        edge("rows=3 cols=70 y=" + std::string(other) + " x=" + narrow + pair);
      }
    edge("rows=5 cols=48 x.stride=64,1 y.stride=1,6 x.offset=1 x=" + std::string(narrow));
  }
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/scaled_copy/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "scaled_copy",
    .summary = "A matrix times a number; where that is 1, a copy, which may convert the type",
    .formula = "y[r,c] = alpha * x[r,c]",
    .axes = {{"rows", "independent rows"}, {"cols", "elements of a row"}},
    .args = {out("y", {"rows", "cols"}).types(copied_types()).like("x").alias({"x"}),
             in("x", {"rows", "cols"}).types(copied_types()).data(generate_x)},
    .options = {{.name = "alpha",
                 .default_value = "1",
                 .help = "rounded to f32",
                 .least = -FLT_MAX,
                 .greatest = FLT_MAX},
                {.name = "overflow",
                 .kind = OptionKind::choice,
                 .default_value = "saturate",
                 .help = "what fp8 becomes beyond its range: its largest number, or infinity "
                         "(e5m2) and NaN (e4m3)",
                 .choices = {"saturate", "special"}}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .cases = cases(),
    .why_these_inputs =
        "Columns stand on both sides of every vector width; rows are slices, transposes and "
        "broadcasts, at addresses that no vector access allows. Every pair of types converts. "
        "Extreme data times 0.001 makes subnormal results, which must not be flushed; infinities, NaN "
        "and both sides of the ends of fp8 stand between.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/scaled_copy/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::scaled_copy

namespace rooftile {

void scaled_copy(Stream& stream, const TensorView& y, const TensorView& x, double alpha,
                 Overflow overflow) {
  const TensorView views[]{y, x};
  const OptionValue values[]{{"alpha", shortest(alpha)},
                             {"overflow", overflow == Overflow::saturate ? "saturate" : "special"}};
  call(catalogue(), "scaled_copy", stream, views, values);
}

}  // namespace rooftile
