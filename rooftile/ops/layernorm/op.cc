// SPDX-License-Identifier: Apache-2.0
// The declaration of layernorm, and its typed calls.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/layernorm/layernorm.h"

namespace rooftile::ops::layernorm {
namespace {

struct Moments {
  double mean = 0;
  double size = 0;   // the mean magnitude
  double reach = 0;  // the largest deviation
  double root = 0;   // 1 / sqrt(variance + eps)
};

Moments moments_of(const Array& s, std::int64_t r, std::int64_t cols, double eps) {
  Moments result;
  for (std::int64_t c = 0; c < cols; ++c) {
    result.mean += s.at(r, c);
    result.size += std::abs(s.at(r, c));
  }
  result.mean /= static_cast<double>(cols);
  result.size /= static_cast<double>(cols);
  double squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const double deviation = s.at(r, c) - result.mean;
    squares += deviation * deviation;
    result.reach = std::max(result.reach, std::abs(deviation));
  }
  result.root = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
  return result;
}

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
  Array& y = values["y"];
  resize_large(y.magnitude, y.values.size());
  const bool is_narrow = std::ranges::all_of(problem.args, [](const ArgChoice& arg) {
    return !arg.is_present || info(arg.dtype).unit_bytes == 2;
  });
  const double eps = problem.number("eps");
  const Array* const weight = problem.has("w") ? &values["w"] : nullptr;
  const Array* const bias = problem.has("b") ? &values["b"] : nullptr;
  const Array& s = sum_of_inputs(problem, values);
  for_each_row(rows, cols, [&](std::int64_t r) {
    const Moments m = moments_of(s, r, cols, eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double w = weight != nullptr ? (*weight)[c] : 1;
      const double b = bias != nullptr ? (*bias)[c] : 0;
      const double deviation = s.at(r, c) - m.mean;
      y.at(r, c) = deviation * m.root * w + b;
      // Errors are relative to the deviations, however large the mean is beside them; where all is
      // of 16 bits, that of an f32's mean is far below what those can tell apart.
      const double size = is_narrow && m.reach > 0 ? m.size : 0;
      y.magnitude[static_cast<std::size_t>(r * cols + c)] =
          (std::abs(deviation) + m.reach + size) * m.root * std::abs(w) + std::abs(b);
    }
  });
}

Cost cost(const Problem& problem, const Values*) {
  const auto elements =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  const double optional =
      (problem.has("residual") ? 1 : 0) + (problem.has("w") ? 1 : 0) + (problem.has("b") ? 1 : 0);
  Cost cost;
  cost[Unit::fp32] = elements * (5 + optional);  // add, subtract, square, add, scale
  cost.bytes_read =
      problem.bytes("x") + problem.bytes("residual") + problem.bytes("w") + problem.bytes("b");
  cost.bytes_written = problem.bytes("y") + problem.bytes("sum");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  if (output == "sum")
    return {.ulps = 0.51, .accumulated = 0, .reason = "one addition, rounded once"};
  Tolerance bound =
      sum_tolerance(problem.dtype(output), DType::f32, static_cast<double>(problem.axis("cols")));
  bound.absolute = 16 * 0x1p-149 / std::sqrt(std::max(problem.number("eps"), 1e-20));
  bound.reason += "; a mean below f32's normal range is rounded to it, times 1 / sqrt(eps)";
  return bound;
}

// Rows around 0, 8 and 300 and, every fourth, around 1e4 with deviations of a hundredth: there the
// mean of the squares less the square of the mean has few correct digits, or none, and at last an
// f32 has few of the mean. In 16 bits the elements of such a row are equal.
void generate_x(const Problem& problem, const Rng& rng, const Values&, std::vector<double>& x) {
  constexpr double kOffsets[]{0, 8, -300, 1e4};
  constexpr double kSpreads[]{1, 1, 1, 0.01};
  const double most = info(problem.dtype("x")).max_finite / 4;
  const double least = ulp_of(problem.dtype("x"), 0.0);
  const auto cols = static_cast<std::size_t>(problem.axis("cols"));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (problem.data == "zeros")
      x[i] = 0;
    else if (problem.data == "uniform")
      x[i] = 2 * rng.uniform(i) - 1;
    else if (problem.data != "extreme")
      x[i] = rng.normal(i) * kSpreads[i / cols % 4] + kOffsets[i / cols % 4];
    else if (i / cols % 3 == 2)  // a row whose squares underflow f32 alone
      x[i] = least * static_cast<double>(rng.below(i, 1000));
    else
      x[i] = (rng.bits(2 * i + 1) & 1 ? 1 : -1) *
             std::exp2(std::log2(least) + rng.uniform(2 * i) * std::log2(most / least));
  }
}

// y is of the size of w and b.
double extreme_limit(const Problem& problem, const ArgChoice& arg) {
  if (arg.name == "w" || arg.name == "b") return 16;
  return info(problem.dtype("x")).max_finite / 4;
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16 w=bf16 b=bf16"},
      {"smoke", "rows=3 cols=100 x=f32"},
      {"ci", "rows=17 cols=1000 x=f32 w=f32 b=f32"},
      {"ci", "rows=17 cols=1000 x=bf16 w=f32 b=f32"},
      {"ci", "rows=5 cols=4096 x=fp16 residual=fp16 w=fp16"},
      {"ci", "rows=3 cols=20000 x=f32 w=f32"},
      {"gpt2_xl.prefill", "rows=1024 cols=1600 x=bf16 w=bf16 b=bf16"},
      {"gpt2_xl.decode", "rows=1 cols=1600 x=bf16 w=bf16 b=bf16"},
      {"roof", "rows=64 cols=8192 x=bf16 w=bf16 b=bf16"},
      {"roof", "rows=4096 cols=4096 x=f32 w=f32 b=f32"},
      {"roof", "rows=4096 cols=4096 x=bf16 w=bf16 b=bf16"},
      {"roof", "rows=16384 cols=8192 x=bf16 w=bf16 b=bf16"},
  };
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text)}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string type(x);
    const std::string all = " x=" + type + " w=" + type + " b=" + type;
    edge("rows=0 cols=8" + all);
    for (const int cols : {1, 2, 7, 8, 15, 16, 17, 33, 255, 1025})
      edge("rows=3 cols=" + std::to_string(cols) + all);
    edge("rows=5 cols=48 x.stride=64,1 y.stride=50,1 x.offset=1 y.offset=3" + all);
    edge("rows=5 cols=33 x.stride=1,5 w.stride=2 b.stride=0" + all);
    edge("rows=5 cols=33 x.stride=0,1 x=" + type + " b=" + type);
    edge("rows=4 cols=96 y.alias=x" + all);
    edge("rows=4 cols=96 sum.alias=residual residual=" + type + all);
    edge("rows=4 cols=96 y.alias=x residual=" + type + all);
    edge("rows=6 cols=130 data=extreme" + all);
    edge("rows=6 cols=136 data=extreme eps=0 x=" + type);
    edge("rows=6 cols=130 data=zeros" + all);
    // Rows that leave no thread of a block without its part.
    edge("rows=3 cols=2048" + all);
    edge("rows=3 cols=2048 x=" + type);
    edge("rows=3 cols=2048 data=extreme residual=" + type + all);
  }
  edge("rows=4 cols=72 x=bf16 y=f32 w=fp16 b=f32");
  edge("rows=4 cols=70 x=fp16 y=bf16 w=f32 w.offset=1");
  edge("rows=4 cols=70 x=bf16 residual=f32 sum=f32");
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/layernorm/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "layernorm",
    .summary = "Layer normalisation of rows, with an optional residual add",
    .formula =
        "y[r,c] = (s[r,c] - mean_c(s)) / sqrt(mean_c((s - mean_c(s))^2) + eps) * w[c] + b[c], "
        "s = x or sum = x + residual",
    .source = "Ba, Kiros and Hinton, Layer Normalization, 2016",
    .axes = {{"rows", "independent rows (tokens)"}, {"cols", "elements of a row", 1}},
    .args = {out("y", {"rows", "cols"}).like("x").alias({"x", "residual"}),
             out("sum", {"rows", "cols"})
                 .like("x")
                 .with("residual")
                 .alias({"x", "residual"})
                 .help("x + residual, rounded"),
             in("x", {"rows", "cols"}).data(generate_x),
             in("residual", {"rows", "cols"}).like("x").optional(),
             in("w", {"cols"}).like("x").optional().help("weight; absent: 1"),
             in("b", {"cols"}).like("x").optional().help("bias; absent: 0")},
    .options = {{.name = "eps", .default_value = "1e-5", .help = "inside the root", .least = 0}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Rows lie around 0, 8 and -300, where a variance from one pass over the data cancels, and around "
        "1e4 with deviations of a hundredth, where an f32 has few digits of the mean; extreme "
        "data spans the type, so that sums and squares overflow and underflow f32 and must be rescaled; "
        "zeros leave eps alone under the root. Columns stand on both sides of every vector width; "
        "strides, offsets and shared memory are those of slices, transposes and in-place engines; "
        "weight and bias are absent together and one by one.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/layernorm/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::layernorm

namespace rooftile {

void add_layernorm(Stream& stream, const TensorView& y, const TensorView& sum, const TensorView& x,
                   const TensorView& residual, const TensorView& w, const TensorView& b,
                   double eps) {
  const TensorView views[]{y, sum, x, residual, w, b};
  const OptionValue values[]{{"eps", shortest(eps)}};
  call(catalogue(), "layernorm", stream, views, values);
}

void layernorm(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& w,
               const TensorView& b, double eps) {
  add_layernorm(stream, y, {}, x, {}, w, b, eps);
}

}  // namespace rooftile
