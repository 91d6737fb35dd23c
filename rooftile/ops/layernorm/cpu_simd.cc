// SPDX-License-Identifier: Apache-2.0
// Layer normalisation in blocks of f32 that stay in cache: the mean, then the squares of the
// deviations from it, so that nothing cancels, then the result. Batch-invariant: a row is summed in
// one order. Rows whose sums leave f32 are done again in double.
#include <algorithm>
#include <cmath>

#include "rooftile/device/cpu/rows.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {

/// Elements of rows and of w and b adjacent; absent tensors without data.
struct LayernormCall {
  TensorView y{};
  TensorView sum{};
  TensorView x{};
  TensorView residual{};
  TensorView w{};
  TensorView b{};
  double eps = 0;
};

void* row_of(const TensorView& view, std::int64_t r) {
  return static_cast<char*>(view.data) + r * view.stride(0) * info(view.dtype).unit_bytes;
}

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/layernorm/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::layernorm {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("cols") == 1) return supported();
  for (const char* name : {"y", "sum", "x", "residual"})
    if (problem.has(name) && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  for (const char* name : {"w", "b"})
    if (problem.has(name) && problem.arg(name).strides[0] != 1)
      return unsupported(std::string(name) + " must be contiguous");
  return supported();
}

void run(const Context& context, const Arguments& args) {
  const LayernormCall call{.y = args["y"],
                           .sum = args["sum"],
                           .x = args["x"],
                           .residual = args["residual"],
                           .w = args["w"],
                           .b = args["b"],
                           .eps = args.problem().number("eps")};
  const auto rows = ROOFTILE_SIMD_CHOOSE(norm_rows);
  launch_rows(*context.stream, call.x.extent(0), call.x.extent(1),
              [&](std::int64_t begin, std::int64_t end) { rows(call, begin, end); });
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "layernorm",
    .name = "cpu_simd",
    .idea = "three passes over a row that stays in cache, in blocks of f32, any mixture of types",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::layernorm
