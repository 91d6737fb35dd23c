// SPDX-License-Identifier: Apache-2.0
// An element at a time through the decoder of formats/, whatever the table's type and strides: the
// first rung of the ladder.
#include <limits>

#include "rooftile/formats/element.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::embedding {
namespace {

void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& table = args["table"];
  const TensorView& ids = args["ids"];
  const double scale = args.problem().number("scale");
  context.stream->launch(y.extent(0), [&](std::int64_t r) {
    const std::int64_t id = ids.as<const std::int32_t>()[r * ids.stride(0)];
    const bool is_in_table = id >= 0 && id < table.extent(0);
    for (std::int64_t c = 0; c < y.extent(1); ++c) {
      const double value = is_in_table
                               ? scale * load_element(table.dtype, table.data,
                                                      id * table.stride(0) + c * table.stride(1))
                               : std::numeric_limits<double>::quiet_NaN();
      store_float(y, r * y.stride(0) + c * y.stride(1), static_cast<float>(value));
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "embedding",
    .name = "cpu_plain",
    .idea = "an element at a time through the type's decoder, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::embedding
