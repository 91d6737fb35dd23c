// SPDX-License-Identifier: Apache-2.0
// The formula as loops over one row at a time, any strides: the first rung of the ladder, and the
// kernel for views that the vector kernel does not take.
#include <cmath>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::rmsnorm {
namespace {

std::int64_t offset_of(const TensorView& view, std::int64_t r, std::int64_t c) {
  return r * view.stride(0) + c * view.stride(1);
}

float round_like(DType dtype, float value) {
  return with_float_type(
      dtype, [&](auto type) { return static_cast<float>(from_float<decltype(type)>(value)); });
}

struct Row {
  const Arguments& args;
  std::int64_t r;

  // The value that is normalised.
  [[nodiscard]] float at(std::int64_t c) const {
    const TensorView& sum = args["sum"];
    return sum.is_present() ? load_float(sum, offset_of(sum, r, c))
                            : load_float(args["x"], offset_of(args["x"], r, c));
  }

  void add_residual(std::int64_t cols) const {
    const TensorView& x = args["x"];
    const TensorView& residual = args["residual"];
    const TensorView& sum = args["sum"];
    for (std::int64_t c = 0; c < cols; ++c)
      store_float(
          sum, offset_of(sum, r, c),
          load_float(x, offset_of(x, r, c)) + load_float(residual, offset_of(residual, r, c)));
  }
};

void run(const Context& context, const Arguments& args) {
  const Problem& problem = args.problem();
  const std::int64_t cols = problem.axis("cols");
  const double eps = problem.number("eps");
  const auto weight_offset = static_cast<float>(problem.number("weight_offset"));
  const bool is_early = problem.option("round") == "early";
  context.stream->launch(problem.axis("rows"), [&](std::int64_t r) {
    const Row row{args, r};
    if (args["sum"].is_present()) row.add_residual(cols);
    double squares = 0;  // double: the square of a large f32 does not fit in one
    for (std::int64_t c = 0; c < cols; ++c) squares += double{row.at(c)} * row.at(c);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    const TensorView& y = args["y"];
    for (std::int64_t c = 0; c < cols; ++c) {
      auto normalised = static_cast<float>(row.at(c) * scale);
      if (is_early) normalised = round_like(args["x"].dtype, normalised);
      store_float(y, offset_of(y, r, c),
                  normalised * (load_float(args["w"], c * args["w"].stride(0)) + weight_offset));
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "rmsnorm",
    .name = "cpu_plain",
    .idea = "the formula as loops, a row at a time, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::rmsnorm
