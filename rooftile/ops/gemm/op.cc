// SPDX-License-Identifier: Apache-2.0
// The declaration of gemm, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/core/expression.h"
#include "rooftile/formats/int8_blocks.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/layout.h"

namespace rooftile::ops::gemm {
namespace {

double norm(const double* values, std::int64_t count) {
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

/// Some columns of B beside a few rows of A at a time: what is added to stays in a cache while B
/// streams.
class Products {
 public:
  static constexpr std::int64_t kRows = 8;

  Products(const double* a, const Array& b, std::int64_t first, std::int64_t last)
      : a_(a), b_(b.values.data()), k_(b.shape[0]), n_(b.shape[1]), first_(first), last_(last) {}

  /// sums[i * (last - first) + j], of rows i from `row` on.
  void compute(std::int64_t row, std::int64_t rows, std::vector<double>& sums) const {
    const std::int64_t width = last_ - first_;
    sums.assign(static_cast<std::size_t>(rows * width), 0);
    for (std::int64_t p = 0; p < k_; ++p) {
      const double* const from = b_ + p * n_ + first_;
      for (std::int64_t i = 0; i < rows; ++i) {
        const double factor = a_[(row + i) * k_ + p];
        double* const to = sums.data() + i * width;
        for (std::int64_t j = 0; j < width; ++j) to[j] += factor * from[j];
      }
    }
  }

  [[nodiscard]] std::vector<double> norms() const {
    std::vector<double> norms(static_cast<std::size_t>(last_ - first_));
    for (std::int64_t p = 0; p < k_; ++p)
      for (std::int64_t j = first_; j < last_; ++j)
        norms[static_cast<std::size_t>(j - first_)] += b_[p * n_ + j] * b_[p * n_ + j];
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
  }

 private:
  const double* a_;
  const double* b_;
  std::int64_t k_, n_, first_, last_;
};

bool has_q8_activations(const Problem& problem) { return problem.option("activations") == "q8"; }

// A as the products see it: with activations=q8 each block of 32 is its int8 codes times its scale.
std::vector<double> rows_of(const Problem& problem, const Array& a) {
  if (!has_q8_activations(problem)) return a.values;
  const std::vector<float> row(a.values.begin(), a.values.end());
  std::vector<std::int8_t> codes(row.size());
  std::vector<float> scales(row.size() / kInt8Block);
  quantise_int8_blocks(row.data(), static_cast<std::int64_t>(row.size()), codes.data(),
                       scales.data());
  std::vector<double> rounded(row.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    rounded[i] = static_cast<double>(codes[i]) * scales[i / kInt8Block];
  return rounded;
}

/// Columns `first` to `last` of D.
void mean_columns(const Problem& problem, const std::vector<double>& rows, Values& values,
                  std::int64_t first, std::int64_t last) {
  const std::int64_t m = problem.axis("m");
  const std::int64_t n = problem.axis("n");
  const std::int64_t k = problem.axis("k");
  const Expression& act = activation(problem.option("act"));
  const double* a = rows.data();
  Array& d = values["d"];
  const Products products(a, values["b"], first, last);
  const std::vector<double> norms = products.norms();
  std::vector<double> sums;
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t within = i % Products::kRows;
    if (within == 0) products.compute(i, std::min(Products::kRows, m - i), sums);
    const double row_norm = norm(a + i * k, k);
    for (std::int64_t j = first; j < last; ++j) {
      // Cauchy and Schwarz: what was summed is at most the product of the norms.
      double size = row_norm * norms[static_cast<std::size_t>(j - first)];
      const double bias = problem.has("bias") ? values["bias"][j] : 0;
      const double residual = problem.has("residual") ? values["residual"].at(i, j) : 0;
      const double value =
          act(sums[static_cast<std::size_t>(within * (last - first) + j - first)] + bias);
      size += std::abs(bias) + std::abs(value) + std::abs(residual);
      d.at(i, j) = value + residual;
      d.magnitude[static_cast<std::size_t>(i * n + j)] = size;
    }
  }
}

void meaning(const Problem& problem, Values& values) {
  constexpr double kLeastProducts = 1 << 20;  // of a thread
  const std::vector<double> rows = rows_of(problem, values["a"]);
  resize_large(values["d"].magnitude, values["d"].values.size());
  const double of_column = 1.0 * problem.axis("m") * problem.axis("k");
  in_parallel(static_cast<std::size_t>(problem.axis("n")),
              static_cast<std::size_t>(kLeastProducts / std::max(of_column, 1.0)) + 1,
              [&](std::size_t first, std::size_t last) {
                mean_columns(problem, rows, values, static_cast<std::int64_t>(first),
                             static_cast<std::int64_t>(last));
              });
}

Unit unit_of(const Problem& problem) {
  return has_q8_activations(problem) ? Unit::int8 : gemm::unit_of(problem, {"b"});
}

Cost cost(const Problem& problem, const Values*) {
  const auto mn = static_cast<double>(problem.axis("m")) * static_cast<double>(problem.axis("n"));
  Cost cost;
  cost[Unit::fp32] = mn * (activation(problem.option("act")).num_ops() +
                           (problem.has("bias") ? 1 : 0) + (problem.has("residual") ? 1 : 0));
  cost[unit_of(problem)] += 2 * mn * static_cast<double>(problem.axis("k"));
  for (const char* input : {"a", "b", "bias", "residual"}) cost.bytes_read += problem.bytes(input);
  cost.bytes_written = problem.bytes("d");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  // Bias, activation and residual: a handful of f32 operations after the sum.
  constexpr double kEpilogue = 4;
  return sum_tolerance(problem.dtype(output), DType::f32,
                       static_cast<double>(problem.axis("k")) + kEpilogue);
}

// Sums of k products stay finite in the output's type and in f32.
double extreme_limit(const Problem& problem, const ArgChoice& arg) {
  const double most = std::min(info(problem.dtype("d")).max_finite, info(DType::f32).max_finite);
  if (arg.name == "bias" || arg.name == "residual") return most / 8;
  return std::sqrt(most / 8 / std::max(1.0, static_cast<double>(problem.axis("k"))));
}

std::string invalid(const Problem& problem) {
  const ArgChoice& b = problem.arg("b");
  const std::string type(name(b.dtype));
  if (!info(b.dtype).is_block())
    return has_q8_activations(problem)
               ? "activations=q8 is for b in GGUF blocks (as q4_1), not for " + type
               : "";
  if (b.shape[0] > 1 && b.strides[0] != 1)
    return "b is " + type + ", whose blocks run along k: layout must be nt or tt (a weight [n, k])";
  if (b.shape[0] % info(b.dtype).unit_elements != 0)
    return "b is " + type + ": k=" + std::to_string(b.shape[0]) + " must be a multiple of " +
           std::to_string(info(b.dtype).unit_elements) + ", its block";
  return "";
}

// Weights in blocks: every type, one block and several, one column and several, up to eight rows
// and more, each way to read A.
void add_block_cases(std::vector<Case>& list) {
  const auto add = [&](const char* set, std::string text) {
    list.push_back({set, std::move(text)});
  };
  for (const DTypeInfo& type : dtypes()) {
    if (!type.is_block()) continue;
    const std::string b = " layout=nt b=" + std::string(type.name);
    const std::string block = std::to_string(type.unit_elements);
    const std::string odd = std::to_string(type.unit_elements * 3);
    for (const char* activations : {"", " activations=q8"}) {
      add("edges", "m=1 n=1 a=f32 k=" + block + b + activations);
      add("edges", "m=3 n=17 a=bf16 d=f32 k=" + odd + b + activations);
      add("edges", "m=8 n=33 a=f32 k=768 bias=f32 act=gelu residual=f32" + b + activations);
      add("edges", "m=21 n=35 a=f32 k=" + odd + b + activations);
      add("edges", "m=2 n=5 a=f32 k=512 data=extreme" + b + activations);
    }
    add("edges", "m=4 n=7 a=fp16 k=512 data=zeros" + b);
  }
  for (const char* q8 : {"", " activations=q8"}) {
    const std::string option = q8;
    for (const char* shape : {"m=0 n=5 k=32", "m=5 n=0 k=32", "m=5 n=3 k=0"})
      add("edges", shape + (" a=f32 b=q4_1 layout=nt" + option));
    add("edges", "m=5 n=9 k=96 a=f32 b=q4_0 layout=tt" + option);
    add("edges", "m=3 n=9 k=64 a=f32 b=q8_0 layout=nt a.stride=160,2 b.stride=1,96" + option);
    add("edges", "m=9 n=40 k=256 a=bf16 b=q6_k layout=nt d=fp16 d.stride=1,9" + option);
    add("edges", "m=2 n=3 k=8192 a=f32 b=q4_1 layout=nt" + option);
    add("edges", "m=1 n=2 k=8192 a=f32 b=q4_k layout=nt data=extreme" + option);
    add("edges", "m=1 n=300 k=576 a=f32 b=q4_1 layout=nt" + option);
    add("edges", "m=70 n=100 k=512 a=bf16 b=q4_k layout=nt bias=bf16" + option);
    add("smoke", "m=1 n=48 k=64 a=f32 b=q4_1 layout=nt" + option);
    add("ci", "m=40 n=100 k=512 a=f32 b=q6_k layout=nt" + option);
    for (const char* b : {"q4_0", "q4_1", "q8_0", "q4_k", "q6_k"}) {
      add("roof", "m=1 n=4096 k=4096 a=f32 layout=nt b=" + (b + option));
      add("ci", "m=1 n=512 k=512 a=f32 layout=nt b=" + (b + option));
    }
    add("roof", "m=512 n=4096 k=4096 a=f32 layout=nt b=q4_1" + option);
    add("smollm2_135m.decode", "m=1 n=576 k=576 a=f32 b=q4_1 layout=nt" + option);
    add("smollm2_135m.decode", "m=1 n=192 k=576 a=f32 b=q4_1 layout=nt" + option);
    add("smollm2_135m.decode", "m=1 n=49152 k=576 a=f32 b=q8_0 layout=nt" + option);
    add("smollm2_135m.prefill", "m=256 n=1536 k=576 a=f32 b=q4_1 layout=nt" + option);
  }
  add("edges", "m=1 n=4 k=32 a=f32 b=q8_0 layout=nt b.stride=1,1073741824");  // beyond 2^31
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "m=16 n=24 k=32 a=f32"},
      {"smoke", "m=16 n=24 k=32 a=bf16 layout=nt"},
      {"ci", "m=65 n=130 k=257 a=f32 bias=f32 act=gelu"},
      {"ci", "m=65 n=130 k=257 a=bf16 d=f32 layout=nt"},
      {"ci", "m=33 n=100 k=64 a=fp16 layout=tn residual=fp16 act=silu"},
      {"ci", "m=1 n=512 k=512 a=bf16 layout=nt"},
      {"llama3_8b.prefill", "m=512 n=4096 k=4096 a=bf16 layout=nt"},
      {"llama3_8b.decode", "m=1 n=4096 k=4096 a=bf16 layout=nt"},
      {"llama3_8b.decode", "m=16 n=14336 k=4096 a=bf16 layout=nt"},
      {"demo", "m=1024 n=1024 k=1024 a=f32"},
      {"demo", "m=1024 n=1024 k=1024 a=bf16"},
      {"demo", "m=1 n=4096 k=4096 a=bf16 layout=nt"},
  };
  const auto add = [&](const char* set, std::string text) {
    list.push_back({set, std::move(text)});
  };
  for (const char* a : {"f32", "bf16"}) {
    add("roof", "m=1024 n=1024 k=1024 a=" + std::string(a));
    for (const char* m : {"1", "16", "64"})
      add("roof", "m=" + std::string(m) + " n=4096 k=4096 layout=nt a=" + std::string(a));
  }
  for (const char* a : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " a=" + std::string(a);
    for (const char* shape : {"m=0 n=5 k=3", "m=5 n=0 k=3", "m=5 n=3 k=0", "m=1 n=1 k=1"})
      add("edges", shape + dtype);
    for (const char* layout : {"nn", "nt", "tn", "tt"})
      for (const char* shape :
           {"m=1 n=33 k=65", "m=7 n=15 k=33", "m=17 n=31 k=129", "m=24 n=8 k=40"})
        add("edges", std::string(shape) + " layout=" + layout + dtype);
    for (const char* act : {"relu", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh"})
      add("edges", "m=5 n=37 k=19 bias=f32 act=" + std::string(act) + dtype);
    add("edges",
        "m=9 n=21 k=33 a.stride=48,1 a.offset=5 b.stride=50,1 d.stride=23,1 d.offset=1" + dtype);
    add("edges", "m=9 n=21 k=33 a.stride=80,2 b.stride=3,101 d.stride=1,9" + dtype);
    add("edges", "m=16 n=16 k=513 layout=nt" + dtype);
    add("edges", "m=8 n=8 k=0 bias=f32 residual=f32 d=f32" + dtype);
    add("edges", "m=12 n=20 k=64 data=extreme layout=nt" + dtype);
    add("edges", "m=12 n=20 k=64 data=zeros" + dtype);
  }
  // Several tiles of matrix instructions with cut ones at the ends, by every layout and epilogue.
  for (const char* layout : {"nn", "nt", "tn", "tt"})
    add("edges", "m=136 n=264 k=40 a=bf16 layout=" + std::string(layout));
  add("edges", "m=72 n=264 k=40 a=bf16 layout=nt d=f32 bias=f32 act=silu");
  add("edges", "m=129 n=136 k=64 a=bf16 layout=nt bias=bf16 act=gelu residual=fp16");
  add("edges", "m=136 n=264 k=264 a=bf16 layout=nt bias=f32 act=gelu residual=bf16");
  add("edges", "m=130 n=100 k=64 a=fp16 layout=nt d.stride=104,1 act=relu");
  // Few rows, k long enough to be split.
  add("edges", "m=1 n=136 k=520 a=bf16 layout=nt");
  add("edges", "m=3 n=65 k=520 a=bf16 layout=nt bias=f32 act=silu residual=f32");
  add("edges", "m=1 n=5 k=2312 a=bf16 layout=nt act=silu");
  add("edges", "m=2 n=6 k=2184 a=fp16 layout=nt bias=fp16");
  add("edges", "m=4 n=9 k=1160 a=f32 layout=nt residual=f32");
  add("edges", "m=12 n=72 k=392 a=fp16 layout=nt d=f32 bias=bf16");
  add("edges", "m=40 n=40 k=328 a=bf16 layout=nt residual=bf16 act=gelu_tanh");
  add("edges", "m=65 n=72 k=264 a=bf16 layout=nt d.stride=1,65");
  // Few tiles of D, and k long enough to be split.
  add("edges", "m=129 n=9 k=4104 a=bf16 layout=nt d=f32 bias=bf16 act=silu");
  add("edges", "m=257 n=5 k=4168 a=fp16 layout=nt residual=fp16");
  // What others report of an H200, in bf16 with weights [n, k]: squares, layers of large models
  // with many and with few rows, one row.
  for (const char* shape :
       {"m=4096 n=4096 k=4096", "m=8192 n=8192 k=8192", "m=2048 n=28672 k=8192",
        "m=4096 n=7168 k=2048", "m=4096 n=24576 k=1536", "m=4096 n=7168 k=16384",
        "m=512 n=8192 k=8192", "m=8192 n=8192 k=512", "m=128 n=7168 k=16384", "m=64 n=24576 k=1536",
        "m=128 n=8192 k=8192", "m=64 n=8192 k=8192", "m=16 n=8192 k=8192", "m=1 n=8192 k=8192",
        "m=1 n=28672 k=8192"})
    add("peers", shape + std::string(" a=bf16 layout=nt"));
  add("edges", "m=9 n=40 k=100 a=bf16 b=f32 d=fp16 bias=bf16 residual=f32");
  add("edges", "m=4 n=8 k=16 a=f32 residual=f32 d.alias=residual");
  add("edges", "m=64 n=4 k=8 a=f32 a.stride=67108864,1");  // offsets beyond 2^31
  add_block_cases(list);
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/gemm/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "gemm",
    .summary = "Matrix product with bias, activation and residual",
    .formula = "D[m,n] = act(sum_k A[m,k] * B[k,n] + bias[n]) + residual[m,n]",
    .source =
        "BLAS level 3; layouts as in D = A B with each operand n (row-major) or t (transposed)",
    .axes = {{"m", "rows of D"}, {"n", "columns of D"}, {"k", "summed over; 0 gives zeros"}},
    .args = {out("d", {"m", "n"}).like("a").alias({"residual"}),
             in("a", {"m", "k"}).strides(strides_a),
             in("b", {"k", "n"}).types(floats_and_blocks()).like("a").strides(strides_b),
             in("bias", {"n"}).like("d").optional(),
             in("residual", {"m", "n"}).like("d").optional()},
    .options = {{.name = "layout",
                 .kind = OptionKind::choice,
                 .default_value = "nn",
                 .help =
                     "first letter A, second B: n row-major as its shape is written, t transposed "
                     "in memory (a weight [n, k] is ?t)",
                 .choices = {"nn", "nt", "tn", "tt"}},
                {.name = "act",
                 .kind = OptionKind::choice,
                 .default_value = "none",
                 .help = "applied in f32 before the residual is added",
                 .choices = {activation_names().begin(), activation_names().end()}},
                {.name = "activations",
                 .kind = OptionKind::choice,
                 .default_value = "exact",
                 .help = "with b in blocks: q8 rounds a to int8 in blocks of 32 along k, one f32 "
                         "scale each, for integer dot products",
                 .choices = {"exact", "q8"}}},
    .batch_axis = "m",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Normal data: sums of random signs, whose error is far below the bound of a wrong tile or a "
        "narrower accumulator. Extents stand on both sides of every register tile and vector; one of "
        "each is 0; layouts and strides are those of slices and transposed weights; extreme data mixes "
        "magnitudes so that a lost small term or an overflow shows; memory behind every row is NaN. "
        "Weights in blocks: every type, from one block and one column up to offsets beyond 2^31; "
        "rounded activations are part of the meaning, so their bound is as tight.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/gemm/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::gemm

namespace rooftile {

void gemm(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& b,
          const GemmOptions& options) {
  const TensorView views[]{d, a, b, options.bias, options.residual};
  const OptionValue values[]{{"act", std::string(options.act)},
                             {"activations", std::string(options.activations)}};
  call(catalogue(), "gemm", stream, views, values);
}

}  // namespace rooftile
