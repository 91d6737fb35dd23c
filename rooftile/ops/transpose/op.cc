// SPDX-License-Identifier: Apache-2.0
// The declaration of transpose, and its typed call.
#include "rooftile/op/op.h"

#include "rooftile/base/parallel.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rooftile::ops::transpose {
namespace {

void meaning(const Problem& problem, Values& values) {
  const std::int64_t rows = problem.axis("rows");
  const Array& x = values["x"];
  Array& y = values["y"];
  for_each_row(problem.axis("cols"), rows, [&](std::int64_t c) {
    for (std::int64_t r = 0; r < rows; ++r) y.at(c, r) = x.at(r, c);
  });
}

Cost cost(const Problem& problem, const Values*) {
  Cost cost;
  cost.bytes_read = problem.bytes("x");
  cost.bytes_written = problem.bytes("y");
  return cost;
}

std::string invalid(const Problem& problem) {
  return problem.dtype("y") == problem.dtype("x") ? "" : "y must have x's dtype: bits are moved";
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 x=bf16"},     {"smoke", "rows=70 cols=33 x=f32"},
      {"ci", "rows=200 cols=300 x=f32"},      {"ci", "rows=129 cols=520 x=bf16"},
      {"roof", "rows=4096 cols=4096 x=f32"},  {"roof", "rows=4096 cols=4096 x=bf16"},
      {"roof", "rows=16384 cols=8192 x=f32"}, {"roof", "rows=16384 cols=8192 x=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* x : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " x=" + std::string(x);
    edge("rows=0 cols=8" + dtype);
    edge("rows=8 cols=0" + dtype);
    for (const char* shape : {"rows=1 cols=1", "rows=1 cols=100", "rows=100 cols=1",
                              "rows=31 cols=33", "rows=32 cols=64", "rows=64 cols=64",
                              "rows=65 cols=63", "rows=8 cols=200", "rows=136 cols=72"})
      edge(shape + dtype);
    edge("rows=40 cols=48 x.stride=64,1 y.stride=41,1 x.offset=1 y.offset=3" + dtype);
    edge("rows=40 cols=48 x.stride=56,1 y.stride=48,1 x.offset=8" + dtype);
    edge("rows=40 cols=33 x.stride=1,41 y.stride=1,35" + dtype);
    edge("rows=40 cols=33 x.stride=0,1" + dtype);
    edge("rows=70 cols=70 data=extreme" + dtype);
  }
  edge("rows=64 cols=8 x=f32 x.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/transpose/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "transpose",
    .summary = "A matrix with its axes exchanged, in memory",
    .formula = "y[c,r] = x[r,c]",
    .axes = {{"rows", "rows of x"}, {"cols", "rows of y"}},
    .args = {out("y", {"cols", "rows"}).like("x"), in("x", {"rows", "cols"})},
    .meaning = meaning,
    .cost = cost,
    .tolerance =
        [](const Problem&, const std::string&) {
          return Tolerance{.ulps = 0, .reason = "bits are moved"};
        },
    .invalid = invalid,
    .cases = cases(),
    .why_these_inputs =
        "Shapes end before, at and after the tiles of 32 and 64; a single row or column is all edge. "
        "Strides and offsets make rows that no vector access allows. Nothing is computed, so any "
        "data shows an element in a wrong place.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/transpose/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::transpose

namespace rooftile {

void transpose(Stream& stream, const TensorView& y, const TensorView& x) {
  const TensorView views[]{y, x};
  call(catalogue(), "transpose", stream, views, {});
}

}  // namespace rooftile
