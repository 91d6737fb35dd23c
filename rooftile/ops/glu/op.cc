// SPDX-License-Identifier: Apache-2.0
// The declaration of glu, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/core/expression.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/glu/glu.h"

namespace rooftile::ops::glu {
namespace {

// Beyond it the lower tails are 0, and the reference has no error there.
constexpr double kTail = 64;

void meaning(const Problem& problem, Values& values) {
  const Expression& act = activation(problem.option("act"));
  const double limit = problem.number("limit") > 0 ? problem.number("limit") : HUGE_VAL;
  const double alpha = problem.number("alpha");
  const double offset = problem.number("up_offset");
  const Array& gates = values["gate"];
  const Array& ups = values["up"];
  Array& y = values["y"];
  resize_large(y.magnitude, y.values.size());
  for_each_element(y.values.size(), [&](std::size_t i) {
    const double gate = alpha * std::min(gates.values[i], limit);
    const double up = std::clamp(ups.values[i], -limit, limit);
    const double gated = act(gate) / alpha;
    y.values[i] = gated * (up + offset);
    // The last term is the reference's own: 1 + erf and 1 + tanh cancel in the lower tail.
    const double size = std::abs(gated) + act.sensitivity(gate) / alpha +
                        1e-9 * std::min(std::abs(gate), kTail) / alpha;
    y.magnitude[i] = size * (std::abs(up) + offset);
  });
}

Cost cost(const Problem& problem, const Values*) {
  const auto elements =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  const double extra = (problem.number("limit") > 0 ? 3 : 0) +  // one and two comparisons
                       (problem.number("alpha") != 1 ? 2 : 0) +
                       (problem.number("up_offset") != 0 ? 1 : 0);
  Cost cost;
  cost[Unit::fp32] = elements * (activation(problem.option("act")).num_ops() + 1 + extra);
  cost.bytes_read = problem.bytes("gate") + problem.bytes("up");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, 4);
  // The activation below f32's normal range, times what is at most a square root of the largest.
  bound.absolute = 0x1p-60;
  bound.reason = "one rounding to " + std::string(name(problem.dtype(output))) +
                 " and 8 roundoffs of f32, times the activation's condition number; an activation "
                 "below f32's normal range may be 0";
  return bound;
}

// Products stay finite in y's type.
double extreme_limit(const Problem& problem, const ArgChoice&) {
  return std::sqrt(info(problem.dtype("y")).max_finite / 4);
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 gate=bf16"},
      {"smoke", "rows=3 cols=100 gate=f32 act=gelu_tanh"},
      {"ci", "rows=17 cols=1000 gate=f32 gate.stride=2000,1 up.stride=2000,1"},
      {"ci", "rows=5 cols=4096 gate=bf16 y.alias=gate"},
      {"ci", "rows=2 cols=40000 gate=bf16"},
      {"ci", "rows=33 cols=720 gate=f32 limit=1 alpha=1.702 up_offset=1"},
      {"llama3_8b.prefill", "rows=2048 cols=14336 gate=bf16 gate.stride=28672,1 up.stride=28672,1"},
      {"llama3_8b.decode", "rows=1 cols=14336 gate=bf16"},
      {"gpt_oss_20b.prefill",
       "rows=1024 cols=2880 gate=bf16 limit=7 alpha=1.702 up_offset=1 gate.stride=5760,2 "
       "up.stride=5760,2"},
      {"peers", "rows=16384 cols=14336 gate=bf16 gate.stride=28672,1 up.stride=28672,1"},
      {"roof", "rows=4096 cols=4096 gate=f32"},
      {"roof", "rows=4096 cols=4096 gate=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* gate : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " gate=" + std::string(gate);
    edge("rows=0 cols=8" + dtype);
    edge("rows=3 cols=0" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 511, 513, 1025})
      edge("rows=5 cols=" + std::to_string(cols) + dtype);
    for (const std::string& act : activation_names()) {
      edge("rows=5 cols=300 act=" + act + dtype);
      edge("rows=6 cols=130 data=extreme act=" + act + dtype);
    }
    edge("rows=6 cols=130 data=zeros up_offset=1" + dtype);
    edge("rows=6 cols=130 data=extreme limit=7 alpha=1.702 up_offset=1" + dtype);
    edge("rows=5 cols=48 gate.stride=96,1 up.stride=97,1 y.stride=50,1 gate.offset=1 y.offset=3" +
         dtype);
    edge("rows=5 cols=33 gate.stride=66,2 up.stride=66,2 up.offset=1" + dtype);
    edge("rows=5 cols=33 up.stride=0,1" + dtype);
    edge("rows=4 cols=70 y.alias=gate" + dtype);
    edge("rows=4 cols=70 y.alias=up act=gelu" + dtype);
  }
  edge("rows=4 cols=70 gate=fp16 up=bf16 y=f32 act=tanh");
  edge("rows=64 cols=8 gate=f32 up.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/glu/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "glu",
    .summary = "Gated linear unit: an activated gate times another matrix",
    .formula =
        "y[r,c] = act(alpha*g)/alpha * (u + up_offset), g = min(gate[r,c], limit), u = "
        "clamp(up[r,c], -limit, limit)",
    .source = "Shazeer, 2020; limit, alpha and up_offset as in OpenAI's gpt-oss reference, 2025",
    .axes = {{"rows", "independent rows"}, {"cols", "elements of a row"}},
    .args = {out("y", {"rows", "cols"}).like("gate").alias({"gate", "up"}),
             in("gate", {"rows", "cols"})
                 .help("what is activated; a half of a buffer, or its even "
                       "columns, by its strides"),
             in("up", {"rows", "cols"}).like("gate")},
    .options = {{.name = "act",
                 .kind = OptionKind::choice,
                 .default_value = "silu",
                 .help = "silu: SwiGLU; gelu: GeGLU",
                 .choices = {activation_names().begin(), activation_names().end()}},
                {.name = "limit",
                 .default_value = "0",
                 .help = "clamps the gate from above and up from both sides; 0: no clamp",
                 .least = 0,
                 .greatest = 1e30},
                {.name = "alpha",
                 .default_value = "1",
                 .help = "steepness of the activation: act(alpha g) / alpha",
                 .least = 1e-3,
                 .greatest = 1e3},
                {.name = "up_offset",
                 .kind = OptionKind::integer,
                 .default_value = "0",
                 .help = "added to up after the clamp",
                 .least = 0,
                 .greatest = 1}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "gate and up are independent, so that exchanging them shows. Their strides are those of halves "
        "of one buffer and of interleaved columns. Extreme data overflows the exponential; a limit "
        "smaller than the data shows a clamp that is missing or on the wrong side.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/glu/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::glu

namespace rooftile {

void glu(Stream& stream, const TensorView& y, const TensorView& gate, const TensorView& up,
         const GluOptions& options) {
  const TensorView views[]{y, gate, up};
  const OptionValue values[]{{"act", std::string(options.act)},
                             {"limit", shortest(options.limit)},
                             {"alpha", shortest(options.alpha)},
                             {"up_offset", shortest(options.up_offset)}};
  call(catalogue(), "glu", stream, views, values);
}

}  // namespace rooftile
