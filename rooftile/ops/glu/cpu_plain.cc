// SPDX-License-Identifier: Apache-2.0
// The formula as loops, in double, any strides: the first rung of the ladder, and the kernel for
// interleaved columns.
#include <algorithm>
#include <cmath>

#include "rooftile/core/expression.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::glu {
namespace {

double at(const TensorView& view, std::int64_t r, std::int64_t c) {
  return load_float(view, r * view.stride(0) + c * view.stride(1));
}

void run(const Context& context, const Arguments& args) {
  const Problem& problem = args.problem();
  const TensorView& y = args["y"];
  const TensorView& gate = args["gate"];
  const TensorView& up = args["up"];
  const Expression& act = activation(problem.option("act"));
  const double limit = problem.number("limit") > 0 ? problem.number("limit") : HUGE_VAL;
  const double alpha = problem.number("alpha");
  const double offset = problem.number("up_offset");
  context.stream->launch(y.extent(0), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.extent(1); ++c) {
      const double gated = act(alpha * std::min(at(gate, r, c), limit)) / alpha;
      const double value = gated * (std::clamp(at(up, r, c), -limit, limit) + offset);
      store_float(y, r * y.stride(0) + c * y.stride(1), static_cast<float>(value));
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "glu",
    .name = "cpu_plain",
    .idea = "the formula as loops in double, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::glu
