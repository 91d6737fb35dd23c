// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder.
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::scaled_copy {
namespace {

void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const auto alpha = static_cast<float>(args.problem().number("alpha"));
  context.stream->launch(y.extent(0), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.extent(1); ++c)
      store_float(y, r * y.stride(0) + c * y.stride(1),
                  alpha * load_float(x, r * x.stride(0) + c * x.stride(1)));
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "scaled_copy",
    .name = "cpu_plain",
    .idea = "the formula as loops, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::scaled_copy
