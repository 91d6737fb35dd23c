// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm_rmsnorm, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/layout.h"
#include "rooftile/ops/gemm_rmsnorm/gemm_rmsnorm.h"

namespace rooftile::ops::gemm_rmsnorm {
namespace {

std::vector<double> normalised(const Problem& problem, const Array& a, const Array& w) {
  const std::int64_t k = problem.axis("k");
  const double eps = problem.number("eps");
  const double offset = problem.number("weight_offset");
  std::vector<double> rows(a.values.size());
  for_each_row(problem.axis("m"), k, [&](std::int64_t i) {
    double squares = 0;
    for (std::int64_t p = 0; p < k; ++p) squares += a.at(i, p) * a.at(i, p);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(k) + eps);
    for (std::int64_t p = 0; p < k; ++p)
      rows[static_cast<std::size_t>(i * k + p)] = a.at(i, p) * scale * (w[p] + offset);
  });
  return rows;
}

void meaning(const Problem& problem, Values& values) {
  constexpr double kLeastProducts = 1 << 20;  // of a thread
  const std::int64_t m = problem.axis("m");
  const std::int64_t n = problem.axis("n");
  const std::int64_t k = problem.axis("k");
  const std::vector<double> rows = normalised(problem, values["a"], values["w"]);
  const Array& b = values["b"];
  Array& d = values["d"];
  resize_large(d.magnitude, d.values.size());
  const double of_column = static_cast<double>(m) * static_cast<double>(k);
  in_parallel(static_cast<std::size_t>(n),
              static_cast<std::size_t>(kLeastProducts / std::max(of_column, 1.0)) + 1,
              [&](std::size_t first, std::size_t last) {
                for (std::int64_t i = 0; i < m; ++i)
                  for (auto j = static_cast<std::int64_t>(first);
                       j < static_cast<std::int64_t>(last); ++j) {
                    double sum = 0;
                    double squares = 0;
                    for (std::int64_t p = 0; p < k; ++p) {
                      const double term = rows[static_cast<std::size_t>(i * k + p)] * b.at(p, j);
                      sum += term;
                      squares += term * term;
                    }
                    d.at(i, j) = sum;
                    d.magnitude[static_cast<std::size_t>(i * n + j)] = std::sqrt(squares);
                  }
              });
}

Cost cost(const Problem& problem, const Values*) {
  const auto mk = static_cast<double>(problem.axis("m")) * static_cast<double>(problem.axis("k"));
  Cost cost;
  cost[Unit::fp32] = 4 * mk;  // square, add, two scalings
  cost[gemm::unit_of(problem, {"b"})] += 2 * mk * static_cast<double>(problem.axis("n"));
  for (const char* input : {"a", "w", "b"}) cost.bytes_read += problem.bytes(input);
  cost.bytes_written = problem.bytes("d");
  return cost;
}

// Magnitudes are the root of the terms' squares: the sum of k sizes is at most sqrt(k) of it. The
// roundings of normalised rows to a type of 16 bits have random signs: their sum is within four of
// the root of their squares.
Tolerance tolerance(const Problem& problem, const std::string& output) {
  constexpr double kNorm = 8;  // f32 operations of a normalised element
  const auto k = static_cast<double>(problem.axis("k"));
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, k + kNorm);
  bound.accumulated *= std::sqrt(k);
  const DType a = problem.dtype("a");
  if (a != DType::f32) {
    bound.accumulated += 4 * std::ldexp(1.0, -info(a).mantissa_bits - 1);
    bound.reason += "; normalised rows may be rounded to " + std::string(name(a));
  }
  return bound;
}

// Squares of a must be finite in f32's exponent range or be rescaled by the kernel. Normalised rows
// are at most sqrt(k) times w; sums of k products of them stay finite in D's type, and in f32
// before the root while the squares are.
double extreme_limit(const Problem& problem, const ArgChoice& arg) {
  constexpr double kMostWeight = 16;
  if (arg.name == "w") return kMostWeight;
  if (arg.name == "a") return info(problem.dtype("a")).max_finite / 4;
  const double most = std::min(info(problem.dtype("d")).max_finite, 0x1p40);
  const auto k = static_cast<double>(problem.axis("k"));
  return most / (8 * kMostWeight * k * std::sqrt(k));
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "m=2 n=24 k=64 a=bf16 layout=nt"},
      {"smoke", "m=3 n=20 k=48 a=f32"},
      {"ci", "m=1 n=260 k=1000 a=bf16 layout=nt"},
      {"ci", "m=2 n=130 k=257 a=f32 layout=nt"},
      {"ci", "m=40 n=72 k=264 a=fp16 layout=nt weight_offset=1"},
      {"llama3_8b.prefill", "m=512 n=6144 k=4096 a=bf16 layout=nt"},
      {"llama3_8b.decode", "m=1 n=6144 k=4096 a=bf16 layout=nt"},
      {"roof", "m=1 n=4096 k=4096 a=bf16 layout=nt"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* a : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " a=" + std::string(a);
    for (const char* shape : {"m=0 n=5 k=3", "m=5 n=0 k=3", "m=1 n=1 k=1", "m=2 n=3 k=1"})
      edge(shape + dtype);
    for (const char* layout : {"nn", "nt", "tn", "tt"})
      edge("m=7 n=15 k=33 layout=" + std::string(layout) + dtype);
    for (const char* k : {"7", "8", "255", "256", "513", "2312", "4104"})
      edge("m=1 n=9 k=" + std::string(k) + " layout=nt" + dtype);
    edge("m=2 n=9 k=2056 layout=nt" + dtype);
    edge("m=2 n=21 k=64 a.stride=80,1 b.stride=1,72 d.stride=23,1 layout=nt" + dtype);
    edge("m=2 n=21 k=64 a.offset=1 w.offset=1 b.offset=1 layout=nt" + dtype);
    for (const char* m : {"1", "2", "12"})
      for (const char* data : {"extreme", "zeros"})
        edge("m=" + std::string(m) + " n=24 k=136 layout=nt data=" + data + dtype);
  }
  edge("m=1 n=40 k=264 a=bf16 layout=nt weight_offset=1 eps=0.5");
  edge("m=2 n=40 k=264 a=bf16 w=f32 layout=nt");
  edge("m=2 n=40 k=264 a=bf16 b=fp16 w=f32 d=f32 layout=nt");
  edge("m=136 n=264 k=136 a=bf16 layout=nt");
  edge("m=2 n=4 k=8 a=f32 a.stride=1073741832,1 layout=nt");  // offsets beyond 2^31 bytes
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/gemm_rmsnorm/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "gemm_rmsnorm",
    .summary = "Matrix product of rows that are normalised by their root mean square",
    .formula =
        "D[m,n] = sum_k A[m,k] / sqrt(mean_k(A[m,k]^2) + eps) * (w[k] + weight_offset) * B[k,n]",
    .source = "Zhang and Sennrich, Root Mean Square Layer Normalization, 2019",
    .axes = {{"m", "rows of D"}, {"n", "columns of D"}, {"k", "summed over", 1}},
    .args = {out("d", {"m", "n"}).like("a"), in("a", {"m", "k"}).strides(gemm::strides_a),
             in("w", {"k"}).like("a").help("the norm's weight"),
             in("b", {"k", "n"}).like("a").strides(gemm::strides_b)},
    .options = {{.name = "layout",
                 .kind = OptionKind::choice,
                 .default_value = "nn",
                 .help = "first letter A, second B: n row-major as the shape is written, t "
                         "transposed in memory (weights [n, k] are ?t)",
                 .choices = {"nn", "nt", "tn", "tt"}},
                {.name = "eps", .default_value = "1e-6", .help = "inside the root", .least = 0},
                {.name = "weight_offset",
                 .kind = OptionKind::integer,
                 .default_value = "0",
                 .help = "added to w in f32, after widening: 1 where the model stores w - 1",
                 .least = 0,
                 .greatest = 1}},
    .batch_axis = "m",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Normal data gives a root near 1; extreme data spans A's type, so that squares overflow and "
        "underflow f32 and must be rescaled; zeros leave eps alone under the root. Extents stand on "
        "both sides of a warp's loads; layouts, strides and offsets are those of slices and "
        "transposed weights.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/gemm_rmsnorm/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::gemm_rmsnorm

namespace rooftile {

void gemm_rmsnorm(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& w,
                  const TensorView& b, const GemmRmsnormOptions& options) {
  const TensorView views[]{d, a, w, b};
  const OptionValue values[]{{"eps", shortest(options.eps)},
                             {"weight_offset", std::to_string(options.weight_offset)}};
  call(catalogue(), "gemm_rmsnorm", stream, views, values);
}

}  // namespace rooftile
