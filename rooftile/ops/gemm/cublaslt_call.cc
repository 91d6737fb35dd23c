// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/cublaslt_call.h"

#include <string>

#include "rooftile/ops/gemm/cpu_gemm.h"

namespace rooftile::ops::gemm {
namespace {

// What its fastest kernels ask for: TMA and vector accesses of 16 bytes.
constexpr std::int64_t kMostAlignment = 16;

std::string type_of(const Problem& problem, const char* arg) {
  return std::string(arg) + " is " + std::string(name(problem.dtype(arg)));
}

std::int64_t alignment_of(const ArgChoice& arg) {
  const std::int64_t start = arg.offset * info(arg.dtype).unit_bytes;
  std::int64_t alignment = kMostAlignment;
  while (start % alignment != 0) alignment /= 2;
  return alignment;
}

// `rows` x `cols` of ours, read column by column.
ColumnMajor column_major(std::int64_t rows, std::int64_t cols, const Matrix& matrix,
                         const PlainLayout& layout, const ArgChoice& arg) {
  return {.dtype = matrix.dtype,
          .rows = layout.is_transposed ? rows : cols,
          .cols = layout.is_transposed ? cols : rows,
          .ld = layout.ld,
          .alignment = alignment_of(arg)};
}

bool has_contiguous_rows(std::int64_t rows, std::int64_t cols, const Matrix& matrix) {
  const auto layout = plain_layout(rows, cols, matrix);
  return layout && !layout->is_transposed;
}

Matrix output_of(const GemmCall& shape) {
  return {
      .dtype = shape.d_dtype, .row_stride = shape.d_row_stride, .col_stride = shape.d_col_stride};
}

Support takes_cublaslt_types(const Problem& problem) {
  if (Support types = takes_types(problem); !types) return types;
  const DType a = problem.dtype("a");
  const DType d = problem.dtype("d");
  if (problem.dtype("b") != a) return unsupported("a and b must have one type");
  if (d != a && d != DType::f32)
    return unsupported(type_of(problem, "d") + ": must be f32, or as a");
  for (const char* arg : {"bias", "residual"})
    if (problem.has(arg) && problem.dtype(arg) != d)
      return unsupported(type_of(problem, arg) + ": must be as d");
  return supported();
}

Support takes_epilogue(const Problem& problem) {
  const std::string_view act = problem.option("act");
  // Its gelu is of the tanh form, with an error that NVIDIA does not state.
  if (act != "none" && act != "relu")
    return unsupported("act=" + std::string(act) + " is none of its epilogues: none and relu are");
  if (act != "none" && problem.has("residual"))
    return unsupported("it adds a residual before the activation, not after");
  if (problem.has("bias") && problem.axis("n") > 1 && problem.arg("bias").strides[0] != 1)
    return unsupported("bias must be contiguous");
  if (!problem.arg("d").alias.empty() &&
      problem.arg("d").strides != problem.arg("residual").strides)
    return unsupported("d and residual share memory but not strides");
  return supported();
}

}  // namespace

Support takes_cublaslt(const Problem& problem) {
  if (problem.option("activations") != "exact") return unsupported("activations=exact only");
  if (Support types = takes_cublaslt_types(problem); !types) return types;
  const GemmCall shape = shape_of(problem);
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) return unsupported("an extent is 0");
  if (!plain_layout(shape.m, shape.k, shape.a) || !plain_layout(shape.k, shape.n, shape.b))
    return unsupported("needs rows or columns of a and b that are contiguous");
  if (!has_contiguous_rows(shape.m, shape.n, output_of(shape)))
    return unsupported("d: rows must be contiguous");
  if (problem.has("residual") && !has_contiguous_rows(shape.m, shape.n, shape.residual))
    return unsupported("residual: rows must be contiguous");
  return takes_epilogue(problem);
}

CublasLtCall cublaslt_call(const Problem& problem) {
  const GemmCall shape = shape_of(problem);
  const PlainLayout a = plain_layout(shape.m, shape.k, shape.a).value();
  const PlainLayout b = plain_layout(shape.k, shape.n, shape.b).value();
  const Matrix d = output_of(shape);
  CublasLtCall call;
  call.b = column_major(shape.k, shape.n, shape.b, b, problem.arg("b"));
  call.a = column_major(shape.m, shape.k, shape.a, a, problem.arg("a"));
  call.d = column_major(shape.m, shape.n, d, plain_layout(shape.m, shape.n, d).value(),
                        problem.arg("d"));
  call.transposes_b = b.is_transposed;
  call.transposes_a = a.is_transposed;
  call.residual = call.d;
  call.has_residual = problem.has("residual");
  if (call.has_residual)
    call.residual = column_major(shape.m, shape.n, shape.residual,
                                 plain_layout(shape.m, shape.n, shape.residual).value(),
                                 problem.arg("residual"));
  call.has_bias = problem.has("bias");
  if (call.has_bias) call.bias_alignment = alignment_of(problem.arg("bias"));
  call.has_relu = problem.option("act") == "relu";
  return call;
}

}  // namespace rooftile::ops::gemm
