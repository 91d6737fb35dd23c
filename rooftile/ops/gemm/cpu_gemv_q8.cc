// SPDX-License-Identifier: Apache-2.0
// A few rows, rounded to int8 blocks, times weights in GGUF blocks: integer dot products of 32
// codes at a time, each scaled once. The idea is that of llama.cpp's quantised dot products (G.
// Gerganov and contributors, 2023); the scale of an activation block stays in f32 here.
#include "rooftile/ops/gemm/cpu_gemv_q8.h"

#include "rooftile/device/cpu/isa.h"
#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {

bool has_q8_dot(DType dtype) {
  switch (dtype) {
    case DType::q4_0:
    case DType::q4_1:
    case DType::q5_0:
    case DType::q5_1:
    case DType::q8_0:
    case DType::q4_k:
    case DType::q5_k:
    case DType::q6_k:
      return true;
    default:
      return false;
  }
}

float q8_factor(DType dtype) {
  if (dtype == DType::q4_0) return -8;
  if (dtype == DType::q5_0) return -16;
  return 1;
}

#if defined(__x86_64__)
namespace {

// A made ready: int8 rows, and one f32 row to make them from.
struct Plan {
  ColumnsPlan columns;
  std::int64_t row_bytes;
};

Plan plan(const GemmCall& call, int threads) {
  const std::int64_t row_bytes = int8_row_bytes(call.k);
  const std::int64_t bytes = call.m * row_bytes + ceil_div(call.k * 4, 64) * 64;
  return {.columns = plan_columns(call, threads, bytes), .row_bytes = row_bytes};
}

void quantise_rows(const GemmCall& call, std::int64_t row_bytes, char* to) {
  auto* row = reinterpret_cast<float*>(to + call.m * row_bytes);
  for (std::int64_t r = 0; r < call.m; ++r) {
    widen_row(call.a, r, call.k, row);
    quantise_row(row, call.k, q8_factor(call.b.dtype), int8_row(to + r * row_bytes, call.k));
  }
}

void run(const GemmCall& call, const Plan& plan, void* workspace, Launch launch) {
  run_columns(
      call, plan.columns, workspace, launch,
      [&](char* x) { quantise_rows(call, plan.row_bytes, x); },
      [&](const ColumnsTask& columns) {
        dot_q8_avx2({.columns = columns, .row_bytes = plan.row_bytes});
      });
}

Support takes(const Problem& problem, const DeviceProperties&) {
  if (cpu_isa() < Isa::avx2) return unsupported("needs AVX2");
  if (!has_int8_activations(problem)) return unsupported("takes activations=q8 only");
  if (problem.axis("m") > kMostBlockRows)
    return unsupported("takes at most " + std::to_string(kMostBlockRows) + " rows");
  if (Support support = takes_blocks(problem); !support) return support;
  if (!has_q8_dot(problem.dtype("b")))
    return unsupported("b is " + std::string(name(problem.dtype("b"))) +
                       ": no integer dot product for it");
  return supported();
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const GemmCall shape = shape_of(problem);
  const Plan made = plan(shape, device.properties().compute_units);
  return {.run =
              [shape, made](const Context& context, const Arguments& args) {
                run(with_pointers(shape, args), made, context.workspace,
                    launch_on(*context.stream));
              },
          .workspace_bytes = made.columns.workspace_bytes()};
}

}  // namespace
#else
namespace {
Support takes(const Problem&, const DeviceProperties&) { return unsupported("needs AVX2"); }
Prepared prepare(const Problem&, Device&, const Config&) { return {}; }
}  // namespace
#endif

extern const KernelDef cpu_gemv_q8;
const KernelDef cpu_gemv_q8{
    .op = "gemm",
    .name = "cpu_gemv_q8",
    .idea = "a few int8 rows: integer dot products with weights in blocks, scaled once a block",
    .determinism = Determinism::batch_invariant,
    .supports = takes,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
