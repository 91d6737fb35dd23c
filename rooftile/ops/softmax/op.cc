// SPDX-License-Identifier: Apache-2.0
// The declaration of softmax, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/softmax/softmax.h"

namespace rooftile::ops::softmax {
namespace {

std::int64_t length_of(const Problem& problem, const Values& values, std::int64_t row) {
  const std::int64_t cols = problem.axis("cols");
  if (!problem.has("lengths")) return cols;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(values["lengths"][row]), 0, cols);
}

void meaning(const Problem& problem, Values& values) {
  const double scale = problem.number("scale");
  const std::int64_t cols = problem.axis("cols");
  const Array& x = values["x"];
  Array& y = values["y"];
  resize_large(y.magnitude, y.values.size());
  for_each_row(problem.axis("rows"), cols, [&](std::int64_t r) {
    const double* const from = x.values.data() + r * cols;
    double* const to = y.values.data() + r * cols;
    double* const magnitude = y.magnitude.data() + r * cols;
    const std::int64_t length = length_of(problem, values, r);
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < length; ++c) most = std::max(most, from[c]);
    double sum = 0;
    // A NaN or a +inf in the row makes the sum NaN, and so the row.
    for (std::int64_t c = 0; c < length; ++c) {
      to[c] = std::exp(scale * (from[c] - most));
      if (from[c] != -std::numeric_limits<double>::infinity()) sum += to[c];
    }
    for (std::int64_t c = 0; c < cols; ++c) {
      const bool is_chosen = c < length && sum != 0;
      const double exponent = is_chosen ? scale * (from[c] - most) : 0;
      to[c] = is_chosen ? to[c] / sum : 0;
      // An exponent t is rounded to an f32, which changes exp(t) by a relative |t|u.
      magnitude[c] = to[c] * (std::isfinite(exponent) ? 1 + std::abs(exponent) : 1);
    }
  });
}

Cost cost(const Problem& problem, const Values* data) {
  const auto rows = static_cast<double>(problem.axis("rows"));
  const auto cols = static_cast<double>(problem.axis("cols"));
  double elements = rows * cols;
  if (data != nullptr && problem.has("lengths")) {
    elements = 0;
    for (std::int64_t r = 0; r < problem.axis("rows"); ++r)
      elements += static_cast<double>(length_of(problem, *data, r));
  }
  Cost cost;
  cost[Unit::fp32] = elements * 5;  // maximum, subtract, scale, sum, normalise
  cost[Unit::special] = elements;   // exp
  const double share = rows * cols > 0 ? elements / (rows * cols) : 0;
  cost.bytes_read = problem.bytes("x") * share + problem.bytes("lengths");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  Tolerance bound =
      sum_tolerance(problem.dtype(output), DType::f32, static_cast<double>(problem.axis("cols")));
  // Beside a term of 1 in the same row, nothing this small is worth a slow path.
  bound.absolute = 0x1p-126;
  bound.reason += "; results below f32's normal range may be 0";
  return bound;
}

// Ragged: empty rows, whole rows and all between, a few out of range, which must be clamped.
void generate_lengths(const Problem& problem, const Rng& rng, const Values&,
                      std::vector<double>& lengths) {
  const std::int64_t cols = problem.axis("cols");
  for (std::size_t r = 0; r < lengths.size(); ++r)
    lengths[r] = static_cast<double>(rng.below(r, cols + 3) - 1);
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},
      {"smoke", "rows=3 cols=100 x=f32 lengths=i32"},
      {"ci", "rows=17 cols=1000 x=f32"},
      {"ci", "rows=17 cols=1000 x=bf16 scale=0.125"},
      {"ci", "rows=64 cols=128 x=fp16 lengths=i32"},
      {"ci", "rows=2 cols=32000 x=f32 y=bf16"},
      {"llama3_8b.decode", "rows=1 cols=128256 x=f32"},
      {"llama3_8b.prefill", "rows=4096 cols=2048 x=bf16 lengths=i32"},
      {"roof", "rows=4096 cols=4096 x=f32"},
      {"roof", "rows=4096 cols=4096 x=bf16"},
      {"roof", "rows=65536 cols=128 x=f32"},
      {"roof", "rows=65536 cols=128 x=bf16"},
      {"demo", "rows=4096 cols=4096 x=f32"},
      {"demo", "rows=4096 cols=4096 x=bf16"},
  };
  for (const char* shape : {"rows=16384 cols=8192", "rows=4096 cols=4096", "rows=64 cols=8192"})
    list.push_back({"peers", std::string(shape) + " x=bf16"});
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text)}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    edge("rows=3 cols=0" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 255, 1025})
      edge("rows=5 lengths=i32 cols=" + std::to_string(cols) + dtype + " seed=1");
    edge("rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3" + dtype);
    edge("rows=5 cols=33 x.stride=1,5" + dtype);
    edge("rows=5 cols=33 x.stride=0,1" + dtype);
    edge("rows=4 cols=96 y.alias=x lengths=i32" + dtype);
    for (const int cols : {130, 1024})
      edge("rows=6 cols=" + std::to_string(cols) + " data=extreme" + dtype);
    edge("rows=6 cols=130 data=zeros" + dtype);
    edge("rows=3 cols=2048" + dtype);  // no thread of a block is without its part
    edge("rows=6 cols=130 scale=30" + dtype);
  }
  edge(
      "rows=1 cols=393216 x=f32");  // results near 2.5e-6: an absolute tolerance would accept zeros
  edge("rows=4 cols=70 x=fp16 y=f32");
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/softmax/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "softmax",
    .summary = "Softmax of rows, each with an optional length",
    .formula =
        "y[r,c] = exp(scale*(x[r,c] - max_r)) / sum_c exp(scale*(x[r,c] - max_r)) for c < "
        "length[r], else 0",
    .source = "Bridle, 1990; the maximum is subtracted so that exp cannot overflow",
    .axes = {{"rows", "independent rows"}, {"cols", "elements of a row"}},
    .args = {out("y", {"rows", "cols"}).like("x").alias({"x"}), in("x", {"rows", "cols"}),
             in("lengths", {"rows"})
                 .types({DType::i32})
                 .optional()
                 .data(generate_lengths)
                 .help("valid elements of each row, clamped to [0, cols]")},
    .options = {{.name = "scale",
                 .default_value = "1",
                 .help = "multiplies x, as 1/sqrt(head_dim)",
                 .least = 0,
                 .greatest = 1e6}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .cases = cases(),
    .why_these_inputs =
        "Normal data exercises the sum; extreme data spans the type, so that exp underflows and a "
        "kernel that does not subtract the maximum overflows; zeros give 1/cols exactly. A scale of 30 "
        "spreads the exponents over the whole range of exp. Lengths are ragged and include 0 and "
        "values out of range. One row of 393216 has results so small that zeros would pass an absolute "
        "tolerance.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/softmax/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::softmax

namespace rooftile {

void softmax(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& lengths,
             const SoftmaxOptions& options) {
  const TensorView views[]{y, x, lengths};
  const OptionValue values[]{{"scale", shortest(options.scale)}};
  call(catalogue(), "softmax", stream, views, values);
}

}  // namespace rooftile
