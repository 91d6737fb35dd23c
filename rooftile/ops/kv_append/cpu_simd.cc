// SPDX-License-Identifier: Apache-2.0
// A head of a token at a time: copied where the dtypes agree, else converted in vectors.
#include <algorithm>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

#define ROOFTILE_SIMD_FILE "rooftile/ops/kv_append/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::kv_append {
namespace {

constexpr std::int64_t kTaskElements = 32768;  // enough work to pay for handing it out

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"k_cache", "v_cache", "k", "v"}) {
    const ArgChoice& arg = problem.arg(name);
    if (problem.axis("head_dim") > 1 && arg.strides[arg.strides.rank() - 1] != 1)
      return unsupported(std::string(name) + ": elements of a head must be adjacent");
  }
  return supported();
}

void run(const Context& context, const Arguments& args) {
  const auto append = ROOFTILE_SIMD_CHOOSE(append_row);
  const TensorView& k = args["k"];
  const TensorView& slots = args["slots"];
  const std::int64_t num_slots = args["k_cache"].extent(0) * args["k_cache"].extent(1);
  const std::int64_t tokens = k.extent(0);
  const std::int64_t per_task = std::max<std::int64_t>(
      kTaskElements / std::max<std::int64_t>(k.extent(1) * k.extent(2), 1), 1);
  context.stream->launch((tokens + per_task - 1) / per_task, [&](std::int64_t task) {
    for (std::int64_t t = task * per_task; t < std::min((task + 1) * per_task, tokens); ++t) {
      const std::int64_t slot = slots.as<const std::int32_t>()[t * slots.stride(0)];
      if (slot < 0 || slot >= num_slots) continue;
      append(args["k_cache"], k, slot, t);
      append(args["v_cache"], args["v"], slot, t);
    }
  });
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "kv_append",
    .name = "cpu_simd",
    .idea = "a head of a token at a time, copied or converted in vectors",
    .determinism = Determinism::repeatable,
    .supports = supports,
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::kv_append
