// SPDX-License-Identifier: Apache-2.0
// The formula as loops, any strides: the first rung of the ladder. A row is normalised once, and
// all columns of B are multiplied by it.
#include <cmath>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm_rmsnorm {
namespace {

/// Row i of A, normalised, in f32. The squares in double: those of an f32 may exceed f32.
void normalise(const Problem& problem, const Arguments& args, std::int64_t i, float* row) {
  const TensorView& a = args["a"];
  const TensorView& w = args["w"];
  const std::int64_t k = a.extent(1);
  double squares = 0;
  for (std::int64_t p = 0; p < k; ++p) {
    row[p] = load_float(a, i * a.stride(0) + p * a.stride(1));
    squares += static_cast<double>(row[p]) * row[p];
  }
  const double root = 1 / std::sqrt(squares / static_cast<double>(k) + problem.number("eps"));
  const auto offset = static_cast<float>(problem.number("weight_offset"));
  for (std::int64_t p = 0; p < k; ++p)
    row[p] = static_cast<float>(row[p] * root) * (load_float(w, p * w.stride(0)) + offset);
}

void run(const Context& context, const Arguments& args) {
  const TensorView& d = args["d"];
  const TensorView& b = args["b"];
  const std::int64_t k = b.extent(0);
  auto* const rows = static_cast<float*>(context.workspace);
  context.stream->launch(d.extent(0), [&](std::int64_t i) {
    float* const row = rows + i * k;
    normalise(args.problem(), args, i, row);
    for (std::int64_t j = 0; j < d.extent(1); ++j) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += row[p] * load_float(b, p * b.stride(0) + j * b.stride(1));
      store_float(d, i * d.stride(0) + j * d.stride(1), sum);
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "gemm_rmsnorm",
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

}  // namespace rooftile::ops::gemm_rmsnorm
