// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder.
#include "rooftile/formats/element.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::scaled_copy {
namespace {

void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const auto alpha = static_cast<float>(args.problem().number("alpha"));
  const bool is_special = args.problem().option("overflow") == "special";
  const Overflow overflow = is_special ? Overflow::to_special : default_overflow(y.dtype);
  context.stream->launch(y.extent(0), [&](std::int64_t r) {
    for (std::int64_t c = 0; c < y.extent(1); ++c) {
      const double value = load_element(x.dtype, x.data, r * x.stride(0) + c * x.stride(1));
      store_element(y.dtype, y.data, r * y.stride(0) + c * y.stride(1),
                    double{alpha * static_cast<float>(value)}, overflow);
    }
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
