// SPDX-License-Identifier: Apache-2.0
// A row in blocks of f32 that stay in cache: the gate is activated, then multiplied by the other
// half. Long rows are shared by threads.
#include <algorithm>

#include "rooftile/device/cpu/activation.h"
#include "rooftile/device/cpu/pieces.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/glu/alpha.h"

namespace rooftile {
namespace {

struct GluRow {
  void* y;
  const void* gate;
  const void* up;
  DType y_dtype;
  DType gate_dtype;
  DType up_dtype;
  Act act;
  float limit;  // infinity: none
  float alpha;
  float up_offset;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/glu/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::glu {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "gate", "up"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return supported();
}

void* row_of(const TensorView& view, std::int64_t r) {
  return static_cast<char*>(view.data) + r * view.stride(0) * info(view.dtype).unit_bytes;
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const double limit = problem.number("limit");
  const GluRow shape{.y = nullptr,
                     .gate = nullptr,
                     .up = nullptr,
                     .y_dtype = problem.dtype("y"),
                     .gate_dtype = problem.dtype("gate"),
                     .up_dtype = problem.dtype("up"),
                     .act = act_of(problem.option("act")),
                     .limit = limit > 0 ? static_cast<float>(limit) : simd::kInfinity,
                     .alpha = static_cast<float>(alpha_of(problem)),
                     .up_offset = static_cast<float>(problem.number("up_offset"))};
  return {.run = [shape](const Context& context, const Arguments& args) {
    const auto compute = ROOFTILE_SIMD_CHOOSE(glu_row);
    const TensorView& y = args["y"];
    const TensorView& gate = args["gate"];
    const TensorView& up = args["up"];
    for_each_piece(*context.stream, y.extent(0), y.extent(1),
                   [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                     GluRow row = shape;
                     row.y = row_of(y, r);
                     row.gate = row_of(gate, r);
                     row.up = row_of(up, r);
                     compute(row, begin, end);
                   });
  }};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "glu",
    .name = "cpu_simd",
    .idea = "a block of the gate is activated and multiplied while it is in cache",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::glu
