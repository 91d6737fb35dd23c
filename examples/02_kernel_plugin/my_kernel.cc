// SPDX-License-Identifier: Apache-2.0
// rmsnorm/cpu_mine: a kernel for an operation that the library declares. It says what it does not
// do; the declaration's cases, reference, tolerance and cost do the rest.
#include <rooftile/op/plugin.h>

#include <cmath>

namespace {

using namespace rooftile;

// A reason for everything that the kernel does not honour: an option is refused, never ignored.
Support can_run(const Problem& problem, const DeviceProperties&) {
  for (const ArgChoice& arg : problem.args)
    if (arg.is_present && arg.dtype != DType::f32)
      return unsupported("takes f32 only; '" + arg.name + "' is " + std::string(name(arg.dtype)));
  if (problem.has("residual")) return unsupported("adds no residual");
  if (problem.option("round") != "late") return unsupported("rounds at the end only");
  return supported();
}

// Strides are in elements and may be anything: the arguments have been checked against the problem.
void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const TensorView& w = args["w"];
  const std::int64_t cols = args.problem().axis("cols");
  const double eps = args.problem().number("eps");
  const auto offset = static_cast<float>(args.problem().number("weight_offset"));
  context.stream->launch(args.problem().axis("rows"), [&](std::int64_t r) {
    const float* from = x.as<const float>() + r * x.stride(0);
    float* to = y.as<float>() + r * y.stride(0);
    double squares = 0;  // double: the square of a large f32 does not fit in one
    for (std::int64_t c = 0; c < cols; ++c) {
      const double value = from[c * x.stride(1)];
      squares += value * value;
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c)
      to[c * y.stride(1)] = static_cast<float>(from[c * x.stride(1)] * scale) *
                            (w.as<const float>()[c * w.stride(0)] + offset);
  });
}

const KernelDef kernel{
    .op = "rmsnorm",
    .name = "cpu_mine",
    .idea = "a row at a time, sums in double",
    .determinism = Determinism::batch_invariant,
    .supports = can_run,
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace

ROOFTILE_PLUGIN(registry) { registry.add(kernel); }
