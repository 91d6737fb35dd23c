// SPDX-License-Identifier: Apache-2.0
// Softmax as a pipeline of three rows in one loop: one is written, the next is exponentiated, the
// one after is searched for its maximum. A result in bf16 takes a quartic for 2^t, others exp to 2
// ulp. Batch-invariant: a row's sum has one order, whatever its neighbours, task or instruction
// set.
#include "rooftile/ops/softmax/cpu_simd.h"

#include "rooftile/device/cpu/rows.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {
using ops::softmax::SoftmaxCall;
}
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/softmax/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::softmax {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"x", "y"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  if (problem.has("lengths") && problem.axis("rows") > 1 && problem.arg("lengths").strides[0] != 1)
    return unsupported("lengths must be adjacent");
  if (!(static_cast<float>(problem.number("scale")) > 0))
    return unsupported("scale must be positive: the maximum is taken before it");
  return supported();
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const SoftmaxCall shape{.y_dtype = problem.dtype("y"),
                          .x_dtype = problem.dtype("x"),
                          .y_row_stride = problem.arg("y").strides[0],
                          .x_row_stride = problem.arg("x").strides[0],
                          .rows = problem.axis("rows"),
                          .cols = problem.axis("cols"),
                          .scale = static_cast<float>(problem.number("scale")),
                          .stream_output = exceeds_caches(device.properties(),
                                                          problem.bytes("x") + problem.bytes("y"))};
  return {.run = [shape](const Context& context, const Arguments& args) {
    SoftmaxCall call = shape;
    call.y = args["y"].data;
    call.x = args["x"].data;
    call.lengths = args["lengths"].as<const std::int32_t>();
    run(call, *context.stream);
  }};
}

}  // namespace

void run(const SoftmaxCall& call, Stream& stream) {
  const auto rows = ROOFTILE_SIMD_CHOOSE(softmax_rows);
  launch_rows(stream, call.rows, call.cols,
              [&](std::int64_t begin, std::int64_t end) { rows(call, begin, end); });
}

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "softmax",
    .name = "cpu_simd",
    .idea = "three rows in flight: one is written, one exponentiated, one searched for its maximum",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::softmax
