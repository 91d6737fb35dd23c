// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich, 2019): the second pass of one row and the first of a later one in
// one loop, so that memory reads while it writes. The weights are widened once a call.
// Batch-invariant: a row's squares are summed in one order. Rows whose squares leave f32 are done
// again in double.
#include "rooftile/ops/rmsnorm/cpu_simd.h"

#include "rooftile/device/cpu/rows.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {
using ops::rmsnorm::RmsnormCall;
using ops::rmsnorm::RowsView;
}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/rmsnorm/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::rmsnorm {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "sum", "x", "residual"})
    if (problem.has(name) && problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  if (problem.axis("cols") > 1 && problem.arg("w").strides[0] != 1)
    return unsupported("w must be contiguous");
  if (problem.has("residual") && problem.dtype("residual") != problem.dtype("sum"))
    return unsupported("sum must have residual's dtype");
  return supported();
}

RowsView rows_of(const Problem& problem, const char* name) {
  if (!problem.has(name)) return {};
  return {.dtype = problem.dtype(name), .row_stride = problem.arg(name).strides[0]};
}

RmsnormCall call_of(const Problem& problem, const DeviceProperties& properties) {
  return {.y = rows_of(problem, "y"),
          .sum = rows_of(problem, "sum"),
          .x = rows_of(problem, "x"),
          .residual = rows_of(problem, "residual"),
          .w_dtype = problem.dtype("w"),
          .rows = problem.axis("rows"),
          .cols = problem.axis("cols"),
          .eps = problem.number("eps"),
          .offset = static_cast<float>(problem.number("weight_offset")),
          .rounds_early = problem.option("round") == "early",
          .stream_output = exceeds_caches(properties, problem.bytes("x") + problem.bytes("y"))};
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const RmsnormCall shape = call_of(problem, device.properties());
  const auto run_on = [shape](const Context& context, const Arguments& args) {
    RmsnormCall call = shape;
    call.y.data = args["y"].data;
    call.sum.data = args["sum"].data;
    call.x.data = args["x"].data;
    call.residual.data = args["residual"].data;
    call.w = args["w"].data;
    call.workspace = static_cast<float*>(context.workspace);
    run(call, *context.stream);
  };
  const std::int64_t padded = (shape.cols + simd::kLanes - 1) / simd::kLanes * simd::kLanes;
  return {.run = run_on, .workspace_bytes = padded * std::int64_t{sizeof(float)}};
}

}  // namespace

void run(const RmsnormCall& call, Stream& stream) {
  if (call.rows == 0 || call.cols == 0) return;
  const auto prepare_w = ROOFTILE_SIMD_CHOOSE(prepare_weights);
  stream.launch(1, [&](std::int64_t) { prepare_w(call); });
  const auto rows = ROOFTILE_SIMD_CHOOSE(norm_rows);
  launch_rows(stream, call.rows, call.cols,
              [&](std::int64_t begin, std::int64_t end) { rows(call, begin, end); });
}

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "rmsnorm",
    .name = "cpu_simd",
    .idea = "a row is scaled while a later one is squared: memory reads while it writes",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::rmsnorm
