// SPDX-License-Identifier: Apache-2.0
// One loop over a row, any strides: the first rung of the ladder.
#include <cmath>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::argmax {
namespace {

void run(const Context& context, const Arguments& args) {
  const TensorView& ids = args["ids"];
  const TensorView& x = args["x"];
  context.stream->launch(x.extent(0), [&](std::int64_t r) {
    std::int64_t best = 0;
    float most = load_float(x, r * x.stride(0));
    for (std::int64_t c = 1; c < x.extent(1); ++c) {
      const float value = load_float(x, r * x.stride(0) + c * x.stride(1));
      if (!(value > most) && !(std::isnan(most) && !std::isnan(value))) continue;
      most = value;
      best = c;
    }
    ids.as<std::int32_t>()[r * ids.stride(0)] = static_cast<std::int32_t>(best);
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "argmax",
    .name = "cpu_plain",
    .idea = "one loop over a row, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::argmax
