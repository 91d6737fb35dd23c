// SPDX-License-Identifier: Apache-2.0
// From the contract's problem and arguments to the plain structure that the cpu kernels share.
#include "rooftile/ops/gemm/cpu_gemm.h"

namespace rooftile::ops::gemm {
namespace {

Matrix matrix_of(const Problem& problem, std::string_view name) {
  const ArgChoice& arg = problem.arg(name);
  const bool is_vector = arg.strides.rank() == 1;
  return {.data = nullptr,
          .dtype = arg.dtype,
          .row_stride = is_vector ? 0 : arg.strides[0],
          .col_stride = arg.strides[is_vector ? 0 : 1]};
}

bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::fp16;
}

Support takes_float(const ArgChoice& arg) {
  if (!arg.is_present) return supported();
  if (!is_float(arg.dtype))
    return unsupported(arg.name + " is " + std::string(name(arg.dtype)) +
                       ": takes f32, bf16 and fp16");
  if (arg.scaling) return unsupported(arg.name + " has block scales");
  return supported();
}

}  // namespace

Support takes_types(const Problem& problem) {
  for (const ArgChoice& arg : problem.args)
    if (Support support = takes_float(arg); !support) return support;
  return supported();
}

Support takes_blocks(const Problem& problem) {
  for (const ArgChoice& arg : problem.args) {
    if (arg.name == "b") continue;
    if (Support support = takes_float(arg); !support) return support;
  }
  if (!info(problem.dtype("b")).is_block())
    return unsupported("b is " + std::string(name(problem.dtype("b"))) + ": takes GGUF blocks");
  return supported();
}

bool has_int8_activations(const Problem& problem) { return problem.option("activations") == "q8"; }

std::optional<PlainLayout> plain_layout(std::int64_t rows, std::int64_t cols,
                                        const Matrix& matrix) {
  const std::int64_t row_stride = rows > 1 ? matrix.row_stride : std::max<std::int64_t>(cols, 1);
  const std::int64_t col_stride = cols > 1 ? matrix.col_stride : std::max<std::int64_t>(rows, 1);
  if ((matrix.col_stride == 1 || cols <= 1) && row_stride >= std::max<std::int64_t>(cols, 1))
    return PlainLayout{.is_transposed = false, .ld = row_stride};
  if ((matrix.row_stride == 1 || rows <= 1) && col_stride >= std::max<std::int64_t>(rows, 1))
    return PlainLayout{.is_transposed = true, .ld = col_stride};
  return std::nullopt;
}

GemmCall shape_of(const Problem& problem) {
  GemmCall call{.m = problem.axis("m"), .n = problem.axis("n"), .k = problem.axis("k")};
  const Matrix d = matrix_of(problem, "d");
  call.d_dtype = d.dtype;
  call.d_row_stride = d.row_stride;
  call.d_col_stride = d.col_stride;
  call.a = matrix_of(problem, "a");
  call.b = matrix_of(problem, "b");
  if (problem.has("bias")) call.bias = matrix_of(problem, "bias");
  if (problem.has("residual")) call.residual = matrix_of(problem, "residual");
  call.act = act_of(problem.option("act"));
  return call;
}

GemmCall with_pointers(GemmCall shape, const Arguments& args) {
  shape.d = args["d"].data;
  shape.a.data = args["a"].data;
  shape.b.data = args["b"].data;
  shape.bias.data = args["bias"].data;
  shape.residual.data = args["residual"].data;
  return shape;
}

}  // namespace rooftile::ops::gemm
