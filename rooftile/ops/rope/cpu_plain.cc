// SPDX-License-Identifier: Apache-2.0
// The formula as loops, sines and cosines of the C library once a token, any strides: the first
// rung of the ladder.
#include <cmath>
#include <memory>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/rope/frequencies.h"

namespace rooftile::ops::rope {
namespace {

struct Rotation {
  std::vector<double> turns;
  double factor;
  bool is_half;
};

void rotate_token(const Rotation& rotation, const Arguments& args, std::int64_t t) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const TensorView& factors = args["freq_factors"];
  const TensorView& positions = args["positions"];
  const double position = positions.as<const std::int32_t>()[t * positions.stride(0)];
  const auto offset = [&](const TensorView& view, std::int64_t h, std::int64_t i) {
    return t * view.stride(0) + h * view.stride(1) + i * view.stride(2);
  };
  const auto pairs = static_cast<std::int64_t>(rotation.turns.size());
  for (std::int64_t i = 0; i < pairs; ++i) {
    double angle = position * rotation.turns[static_cast<std::size_t>(i)];
    if (factors.is_present()) angle /= load_float(factors, i * factors.stride(0));
    const double c = rotation.factor * std::cos(angle);
    const double s = rotation.factor * std::sin(angle);
    const std::int64_t first = rotation.is_half ? i : 2 * i;
    const std::int64_t second = rotation.is_half ? i + pairs : 2 * i + 1;
    for (std::int64_t h = 0; h < x.extent(1); ++h) {
      const double a = load_float(x, offset(x, h, first));
      const double b = load_float(x, offset(x, h, second));
      store_float(y, offset(y, h, first), static_cast<float>(a * c - b * s));
      store_float(y, offset(y, h, second), static_cast<float>(b * c + a * s));
    }
  }
  for (std::int64_t h = 0; h < x.extent(1); ++h)
    for (std::int64_t i = 2 * pairs; i < x.extent(2); ++i)
      store_float(y, offset(y, h, i), load_float(x, offset(x, h, i)));
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const auto rotation =
      std::make_shared<const Rotation>(Rotation{.turns = frequencies(problem),
                                                .factor = attention_factor(problem),
                                                .is_half = problem.option("pairing") == "half"});
  return {.run = [rotation](const Context& context, const Arguments& args) {
    context.stream->launch(args["x"].extent(0),
                           [&](std::int64_t t) { rotate_token(*rotation, args, t); });
  }};
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "rope",
    .name = "cpu_plain",
    .idea = "the formula as loops in double, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = prepare,
};

}  // namespace rooftile::ops::rope
