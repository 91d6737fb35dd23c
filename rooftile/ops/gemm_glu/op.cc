// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm_glu, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rooftile/base/parallel.h"
#include "rooftile/core/expression.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/layout.h"
#include "rooftile/ops/gemm_glu/gemm_glu.h"

namespace rooftile::ops::gemm_glu {
namespace {

struct Product {
  double sum = 0;
  double size = 0;  // of what was summed
};

/// Row i of A times columns `first` to `last` of B.
std::vector<Product> products(const Array& a, const Array& b, std::int64_t i, std::int64_t first,
                              std::int64_t last) {
  std::vector<Product> results(static_cast<std::size_t>(last - first));
  for (std::int64_t p = 0; p < b.shape[0]; ++p) {
    const double factor = a.at(i, p);
    const double* const row = b.values.data() + p * b.shape[1] + first;
    for (std::size_t j = 0; j < results.size(); ++j) {
      const double term = factor * row[j];
      results[j].sum += term;
      results[j].size += std::abs(term);
    }
  }
  return results;
}

void mean_columns(const Problem& problem, Values& values, std::int64_t first, std::int64_t last) {
  const Expression& act = activation(problem.option("act"));
  Array& d = values["d"];
  for (std::int64_t i = 0; i < problem.axis("m"); ++i) {
    const std::vector<Product> gates = products(values["a"], values["gate"], i, first, last);
    const std::vector<Product> ups = products(values["a"], values["up"], i, first, last);
    for (std::int64_t j = first; j < last; ++j) {
      const Product& gate = gates[static_cast<std::size_t>(j - first)];
      const Product& up = ups[static_cast<std::size_t>(j - first)];
      const double gated = act(gate.sum);
      d.at(i, j) = gated * up.sum;
      // No activation is steeper than 1.13 (gelu's, silu's 1.1): an error of the gate's sum passes
      // on by that much, and is multiplied by the other sum.
      d.magnitude[static_cast<std::size_t>(i * d.shape[1] + j)] =
          std::abs(gated) * up.size + 1.2 * gate.size * std::abs(up.sum) + std::abs(d.at(i, j));
    }
  }
}

void meaning(const Problem& problem, Values& values) {
  constexpr double kLeastProducts = 1 << 20;  // of a thread
  resize_large(values["d"].magnitude, values["d"].values.size());
  const double of_column = 2.0 * problem.axis("m") * problem.axis("k");
  in_parallel(static_cast<std::size_t>(problem.axis("n")),
              static_cast<std::size_t>(kLeastProducts / std::max(of_column, 1.0)) + 1,
              [&](std::size_t first, std::size_t last) {
                mean_columns(problem, values, static_cast<std::int64_t>(first),
                             static_cast<std::int64_t>(last));
              });
}

Cost cost(const Problem& problem, const Values*) {
  const auto mn = static_cast<double>(problem.axis("m")) * static_cast<double>(problem.axis("n"));
  Cost cost;
  cost[Unit::fp32] = mn * (activation(problem.option("act")).num_ops() + 1);
  cost[gemm::unit_of(problem, {"gate", "up"})] += 4 * mn * static_cast<double>(problem.axis("k"));
  for (const char* input : {"a", "gate", "up"}) cost.bytes_read += problem.bytes(input);
  cost.bytes_written = problem.bytes("d");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  // The activation and the product of the two: a handful of f32 operations after the sums.
  constexpr double kEpilogue = 8;
  return sum_tolerance(problem.dtype(output), DType::f32,
                       static_cast<double>(problem.axis("k")) + kEpilogue);
}

// Products of two sums of k products stay finite in D's type and in f32.
double extreme_limit(const Problem& problem, const ArgChoice&) {
  const double most = std::min(info(problem.dtype("d")).max_finite, info(DType::f32).max_finite);
  const double of_sum = std::sqrt(most / 4);
  return std::sqrt(of_sum / std::max(1.0, static_cast<double>(problem.axis("k"))));
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "m=16 n=24 k=32 a=f32"},
      {"smoke", "m=16 n=24 k=32 a=bf16 layout=nt"},
      {"ci", "m=65 n=130 k=257 a=f32 act=gelu"},
      {"ci", "m=140 n=264 k=128 a=bf16 layout=nt"},
      {"llama3_8b.prefill", "m=512 n=14336 k=4096 a=bf16 layout=nt"},
      {"llama3_8b.decode", "m=1 n=14336 k=4096 a=bf16 layout=nt"},
      {"roof", "m=256 n=1024 k=1024 a=bf16 layout=nt"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* a : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " a=" + std::string(a);
    for (const char* shape : {"m=0 n=5 k=3", "m=5 n=0 k=3", "m=5 n=3 k=0", "m=1 n=1 k=1"})
      edge(shape + dtype);
    for (const char* layout : {"nn", "nt", "tn", "tt"})
      edge("m=7 n=15 k=33 layout=" + std::string(layout) + dtype);
    edge("m=9 n=21 k=33 a.stride=48,1 a.offset=5 gate.stride=50,1 up.stride=51,1 d.stride=23,1" +
         dtype);
    edge("m=12 n=24 k=64 data=extreme layout=nt" + dtype);
    edge("m=12 n=24 k=64 data=zeros layout=nt" + dtype);
  }
  for (const char* act : {"relu", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh"})
    edge("m=5 n=40 k=24 a=bf16 layout=nt act=" + std::string(act));
  edge("m=136 n=264 k=72 a=bf16 layout=nt");
  edge("m=70 n=136 k=136 a=fp16 layout=nt d=f32 act=gelu");
  edge("m=136 n=264 k=264 a=bf16 layout=nt");
  edge("m=130 n=100 k=64 a=bf16 layout=nt d.stride=104,1");
  edge("m=4 n=6 k=16 a=bf16 gate=fp16 up=f32 d=fp16");
  edge("m=64 n=4 k=8 a=f32 a.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/gemm_glu/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "gemm_glu",
    .summary = "Two matrix products of the same rows, one gating the other",
    .formula = "D[m,n] = act(sum_k A[m,k] * gate[k,n]) * (sum_k A[m,k] * up[k,n])",
    .source = "Shazeer, GLU Variants Improve Transformer, 2020",
    .axes = {{"m", "rows of D"}, {"n", "columns of D"}, {"k", "summed over; 0 gives zeros"}},
    .args = {out("d", {"m", "n"}).like("a"), in("a", {"m", "k"}).strides(gemm::strides_a),
             in("gate", {"k", "n"}).like("a").strides(gemm::strides_b).help("what is activated"),
             in("up", {"k", "n"}).like("a").strides(gemm::strides_b)},
    .options = {{.name = "layout",
                 .kind = OptionKind::choice,
                 .default_value = "nn",
                 .help = "first letter A, second gate and up: n row-major as the shape is written, "
                         "t transposed in memory (weights [n, k] are ?t)",
                 .choices = {"nn", "nt", "tn", "tt"}},
                {.name = "act",
                 .kind = OptionKind::choice,
                 .default_value = "silu",
                 .help = "silu: SwiGLU; gelu: GeGLU",
                 .choices = {activation_names().begin(), activation_names().end()}}},
    .batch_axis = "m",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Gate and up hold other numbers, so that exchanged halves show; extents stand on both sides "
        "of every tile, one of each is 0; layouts, strides and offsets are those of slices and "
        "transposed weights; extreme data mixes magnitudes.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/gemm_glu/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::gemm_glu

namespace rooftile {

void gemm_glu(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& gate,
              const TensorView& up, std::string_view act) {
  const TensorView views[]{d, a, gate, up};
  const OptionValue values[]{{"act", std::string(act)}};
  call(catalogue(), "gemm_glu", stream, views, values);
}

}  // namespace rooftile
