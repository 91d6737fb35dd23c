// SPDX-License-Identifier: Apache-2.0
// The declaration of argmax, and its typed call.
#include "rooftile/op/op.h"

#include <cmath>
#include <limits>

#include "rooftile/base/parallel.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/argmax/argmax.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::ops::argmax {
namespace {

void meaning(const Problem& problem, Values& values) {
  const std::int64_t cols = problem.axis("cols");
  const Array& x = values["x"];
  Array& ids = values["ids"];
  for_each_row(problem.axis("rows"), cols, [&](std::int64_t r) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < cols; ++c)
      if (x.at(r, c) > x.at(r, best) || (std::isnan(x.at(r, best)) && !std::isnan(x.at(r, c))))
        best = c;
    ids[r] = static_cast<double>(best);
  });
}

Cost cost(const Problem& problem, const Values*) {
  Cost cost;
  cost[Unit::fp32] =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  cost.bytes_read = problem.bytes("x");
  cost.bytes_written = problem.bytes("ids");
  return cost;
}

Tolerance tolerance(const Problem&, const std::string&) {
  return {.ulps = 0, .reason = "an index is right or wrong"};
}

std::string invalid(const Problem& problem) {
  if (problem.axis("cols") > std::numeric_limits<std::int32_t>::max())
    return "cols must fit in the i32 of ids";
  return "";
}

// Normal data rarely has equal elements. So: uniform has few values, that ties are the rule;
// extreme has infinities and NaN between, and whole rows of NaN and of -inf.
void generate_x(const Problem& problem, const Rng& rng, const Values&, std::vector<double>& x) {
  const auto cols = static_cast<std::size_t>(problem.axis("cols"));
  const double special[]{HUGE_VAL, -HUGE_VAL, std::nan(""), 0.0, -0.0, 1.0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / cols;
    if (problem.data == "zeros")
      x[i] = 0;
    else if (problem.data == "uniform")
      x[i] = static_cast<double>(rng.below(i, 5)) - 2;
    else if (problem.data != "extreme")
      x[i] = rng.normal(i);
    else if (row % 4 == 1)
      x[i] = i % 3 == 0 ? std::nan("") : -HUGE_VAL;
    else if (row % 4 == 2)
      x[i] = std::nan("");
    else
      x[i] = special[rng.below(i, row % 4 == 0 ? 6 : 3)];
  }
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},
      {"smoke", "rows=3 cols=100 x=f32"},
      {"ci", "rows=5 cols=32000 x=f32"},
      {"ci", "rows=1 cols=128256 x=f32"},
      {"ci", "rows=33 cols=1000 x=bf16 data=uniform"},
      {"llama3_8b.decode", "rows=1 cols=128256 x=f32"},
      {"llama3_8b.decode", "rows=64 cols=128256 x=bf16"},
      {"roof", "rows=512 cols=128256 x=f32"},
      {"roof", "rows=512 cols=128256 x=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 255, 1023, 1024, 1025, 4097, 16385}) {
      const std::string text = " cols=" + std::to_string(cols) + dtype;
      const bool is_long = cols > 1025;
      edge((is_long ? "rows=1" : "rows=5") + text);
      edge((is_long ? "rows=2 data=uniform" : "rows=5 data=uniform") + text);
      if (cols <= 4097) edge((is_long ? "rows=4 data=extreme" : "rows=8 data=extreme") + text);
    }
    edge("rows=1 cols=40000 data=zeros" + dtype);
    edge("rows=5 cols=48 x.stride=64,1 x.offset=1 ids.stride=3" + dtype);
    edge("rows=5 cols=33 x.stride=1,5" + dtype);
    edge("rows=5 cols=33 x.stride=0,1" + dtype);
  }
  edge("rows=3 cols=40000 x=bf16 data=extreme");
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/argmax/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "argmax",
    .summary = "Index of the largest element of each row",
    .formula =
        "ids[r] = the least c with x[r,c] >= all x[r,k] that are numbers; 0 where none is a number",
    .axes = {{"rows", "independent rows"}, {"cols", "elements of a row", 1}},
    .args = {out("ids", {"rows"}).types({DType::i32}), in("x", {"rows", "cols"}).data(generate_x)},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .cases = cases(),
    .why_these_inputs =
        "Few distinct values make ties the rule, in one vector, across vectors, blocks and threads: "
        "only the lowest index is right. Extreme data has infinities, both zeros and NaN between "
        "numbers, rows of NaN alone and rows of NaN and -inf.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/argmax/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::argmax

namespace rooftile {

void argmax(Stream& stream, const TensorView& ids, const TensorView& x) {
  const TensorView views[]{ids, x};
  call(catalogue(), "argmax", stream, views, {});
}

}  // namespace rooftile
