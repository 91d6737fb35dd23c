// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/binary.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/formats/typed.h"

namespace rooftile::ops {
namespace {

template <class Number>
Number apply(BinaryFn fn, Number a, Number b) {
  return fn == BinaryFn::add ? a + b : a * b;
}

Cost cost(const Problem& problem, const Values*) {
  Cost cost;
  cost[Unit::fp32] =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  cost.bytes_read = problem.bytes("a") + problem.bytes("b");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  if (problem.dtype(output) == DType::f32)
    return {.ulps = 0.5, .reason = "one f32 operation, correctly rounded"};
  return {.ulps = 0.51, .reason = "one f32 operation, rounded once more"};
}

// Results stay finite in y's type.
double extreme_limit(BinaryFn fn, const Problem& problem) {
  const double most = info(problem.dtype("y")).max_finite;
  return fn == BinaryFn::add ? most / 4 : std::sqrt(most / 4);
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 a=bf16"},
      {"smoke", "rows=3 cols=100 a=f32"},
      {"ci", "rows=17 cols=1000 a=f32"},
      {"ci", "rows=5 cols=4096 a=bf16 b=f32 y=bf16 y.alias=a"},
      {"ci", "rows=3 cols=40000 a=fp16"},
      {"llama3_8b.prefill", "rows=2048 cols=4096 a=bf16 y.alias=a"},
      {"llama3_8b.decode", "rows=1 cols=4096 a=bf16 y.alias=a"},
      {"roof", "rows=4096 cols=4096 a=f32"},
      {"roof", "rows=4096 cols=4096 a=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* a : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " a=" + std::string(a);
    edge("rows=0 cols=8" + dtype);
    edge("rows=3 cols=0" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 511, 513, 1025})
      edge("rows=5 cols=" + std::to_string(cols) + dtype);
    edge("rows=5 cols=48 a.stride=64,1 b.stride=50,1 y.stride=49,1 a.offset=1 y.offset=3" + dtype);
    edge("rows=5 cols=33 b.stride=0,1" + dtype);
    edge("rows=5 cols=33 b.stride=0,0" + dtype);
    edge("rows=5 cols=33 a.stride=1,5 y.stride=1,6" + dtype);
    edge("rows=4 cols=96 y.alias=a" + dtype);
    edge("rows=4 cols=70 y.alias=b" + dtype);
    edge("rows=4 cols=70 y.alias=a b.stride=0,1" + dtype);
    edge("rows=6 cols=130 data=extreme" + dtype);
    edge("rows=6 cols=130 data=zeros" + dtype);
  }
  edge("rows=4 cols=70 a=fp16 b=bf16 y=f32");
  edge("rows=64 cols=8 a=f32 a.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

void run_plain(BinaryFn fn, const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& a = args["a"];
  const TensorView& b = args["b"];
  const auto offset = [](const TensorView& view, std::int64_t r, std::int64_t c) {
    return r * view.stride(0) + c * view.stride(1);
  };
  context.stream->launch(y.extent(0), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.extent(1); ++c)
      store_float(y, offset(y, r, c),
                  apply(fn, load_float(a, offset(a, r, c)), load_float(b, offset(b, r, c))));
  });
}

}  // namespace

OpDef binary_def(BinaryFn fn, const BinaryText& text) {
  return {
      .name = text.name,
      .summary = text.summary,
      .formula = text.formula,
      .axes = {{"rows", "independent rows"}, {"cols", "elements of a row"}},
      .args = {out("y", {"rows", "cols"}).like("a").alias({"a", "b"}), in("a", {"rows", "cols"}),
               in("b", {"rows", "cols"})
                   .like("a")
                   .help("a row stride of 0 applies one row to all rows of a")},
      .batch_axis = "rows",
      .meaning =
          [fn](const Problem&, Values& values) {
            const Array& a = values["a"];
            const Array& b = values["b"];
            Array& y = values["y"];
            for_each_element(y.values.size(), [&](std::size_t i) {
              y.values[i] = apply(fn, a.values[i], b.values[i]);
            });
          },
      .cost = cost,
      .tolerance = tolerance,
      .extreme_limit = [fn](const Problem& problem,
                            const ArgChoice&) { return extreme_limit(fn, problem); },
      .cases = cases(),
      .why_these_inputs =
          "Columns stand on both sides of every vector width and block; rows are slices, transposes "
          "and broadcasts, and either input may be overwritten. Extreme data mixes magnitudes and "
          "makes subnormal results, which must not be flushed.",
  };
}

KernelDef binary_plain(BinaryFn fn, const std::string& op) {
  return {
      .op = op,
      .name = "cpu_plain",
      .idea = "the formula as loops, any strides",
      .determinism = Determinism::batch_invariant,
      .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
      .prepare =
          [fn](const Problem&, Device&, const Config&) {
            return Prepared{.run = [fn](const Context& context, const Arguments& args) {
              run_plain(fn, context, args);
            }};
          },
  };
}

}  // namespace rooftile::ops
