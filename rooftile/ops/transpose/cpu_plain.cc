// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder.
#include <cstring>

#include "rooftile/op/kernel.h"

namespace rooftile::ops::transpose {
namespace {

void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const std::int64_t bytes = info(x.dtype).unit_bytes;
  const auto at = [&](const TensorView& view, std::int64_t i, std::int64_t j) {
    return static_cast<char*>(view.data) + (i * view.stride(0) + j * view.stride(1)) * bytes;
  };
  context.stream->launch(y.extent(0), [&](std::int64_t c) {
    for (std::int64_t r = 0; r < y.extent(1); ++r)
      std::memcpy(at(y, c, r), at(x, r, c), static_cast<std::size_t>(bytes));
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "transpose",
    .name = "cpu_plain",
    .idea = "the formula as loops, any strides",
    .determinism = Determinism::repeatable,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::transpose
