// SPDX-License-Identifier: Apache-2.0
// The formula as loops in double over one row at a time, any strides: the first rung of the ladder,
// and the kernel for views that the vector kernel does not take.
#include <cmath>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::layernorm {
namespace {

double at(const TensorView& view, std::int64_t r, std::int64_t c) {
  return load_float(view, r * view.stride(0) + c * view.stride(1));
}

double at_or(const TensorView& view, std::int64_t c, double absent) {
  return view.is_present() ? load_float(view, c * view.stride(0)) : absent;
}

void add_residual(const Arguments& args, std::int64_t r, std::int64_t cols) {
  const TensorView& sum = args["sum"];
  for (std::int64_t c = 0; c < cols; ++c)
    store_float(
        sum, r * sum.stride(0) + c * sum.stride(1),
        static_cast<float>(at(args["x"], r, c)) + static_cast<float>(at(args["residual"], r, c)));
}

void run(const Context& context, const Arguments& args) {
  const std::int64_t cols = args.problem().axis("cols");
  const double eps = args.problem().number("eps");
  const TensorView& y = args["y"];
  const TensorView& s = args["sum"].is_present() ? args["sum"] : args["x"];
  context.stream->launch(args.problem().axis("rows"), [&](std::int64_t r) {
    if (args["sum"].is_present()) add_residual(args, r, cols);
    double mean = 0;
    for (std::int64_t c = 0; c < cols; ++c) mean += at(s, r, c);
    mean /= static_cast<double>(cols);
    double squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) squares += (at(s, r, c) - mean) * (at(s, r, c) - mean);
    const double root = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (std::int64_t c = 0; c < cols; ++c) {
      const double value = (at(s, r, c) - mean) * root * at_or(args["w"], c, 1);
      store_float(y, r * y.stride(0) + c * y.stride(1),
                  static_cast<float>(value + at_or(args["b"], c, 0)));
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "layernorm",
    .name = "cpu_plain",
    .idea = "the formula as loops in double, a row at a time, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::layernorm
