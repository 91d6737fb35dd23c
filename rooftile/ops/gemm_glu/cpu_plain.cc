// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder. A row of A is widened once, and
// both products run over it.
#include <vector>

#include "rooftile/core/expression.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm_glu {
namespace {

float dot(const float* row, const TensorView& b, std::int64_t j) {
  float sum = 0;
  for (std::int64_t p = 0; p < b.extent(0); ++p)
    sum += row[p] * load_float(b, p * b.stride(0) + j * b.stride(1));
  return sum;
}

void run(const Context& context, const Arguments& args) {
  const TensorView& d = args["d"];
  const TensorView& a = args["a"];
  const Expression& act = activation(args.problem().option("act"));
  const std::int64_t k = a.extent(1);
  auto* const rows = static_cast<float*>(context.workspace);
  context.stream->launch(d.extent(0), [&](std::int64_t i) {
    float* const row = rows + i * k;
    for (std::int64_t p = 0; p < k; ++p) row[p] = load_float(a, i * a.stride(0) + p * a.stride(1));
    for (std::int64_t j = 0; j < d.extent(1); ++j) {
      const auto gate = static_cast<float>(act(dot(row, args["gate"], j)));
      store_float(d, i * d.stride(0) + j * d.stride(1), gate * dot(row, args["up"], j));
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "gemm_glu",
    .name = "cpu_plain",
    .idea = "the formula as loops, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare =
        [](const Problem& problem, Device&, const Config&) {
          return Prepared{.run = run,
                          .workspace_bytes = problem.axis("m") * problem.axis("k") *
                                             static_cast<std::int64_t>(sizeof(float))};
        },
};

}  // namespace rooftile::ops::gemm_glu
