// SPDX-License-Identifier: Apache-2.0
// An element at a time, any strides: the kernel for views that the vector kernel does not take.
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::kv_append {
namespace {

void copy_row(const TensorView& cache, const TensorView& rows, std::int64_t slot, std::int64_t t) {
  const std::int64_t to =
      slot / cache.extent(1) * cache.stride(0) + slot % cache.extent(1) * cache.stride(1);
  with_float_type(cache.dtype, [&](auto to_type) {
    with_float_type(rows.dtype, [&](auto from_type) {
      for (std::int64_t h = 0; h < rows.extent(1); ++h)
        for (std::int64_t d = 0; d < rows.extent(2); ++d)
          cache.as<decltype(to_type)>()[to + h * cache.stride(2) + d * cache.stride(3)] =
              from_float<decltype(to_type)>(static_cast<float>(
                  rows.as<const decltype(from_type)>()[t * rows.stride(0) + h * rows.stride(1) +
                                                       d * rows.stride(2)]));
    });
  });
}

void run(const Context& context, const Arguments& args) {
  const TensorView& slots = args["slots"];
  const std::int64_t num_slots = args["k_cache"].extent(0) * args["k_cache"].extent(1);
  context.stream->launch(args["k"].extent(0), [&](std::int64_t t) {
    const std::int64_t slot = slots.as<const std::int32_t>()[t * slots.stride(0)];
    if (slot < 0 || slot >= num_slots) return;
    copy_row(args["k_cache"], args["k"], slot, t);
    copy_row(args["v_cache"], args["v"], slot, t);
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "kv_append",
    .name = "cpu_plain",
    .idea = "an element at a time, any strides",
    .determinism = Determinism::repeatable,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::kv_append
