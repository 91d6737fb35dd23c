// SPDX-License-Identifier: Apache-2.0
// A row in blocks of f32 that stay in cache. Long rows are shared by threads.
#include <algorithm>

#include "rooftile/device/cpu/pieces.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {

struct ScaleRow {
  void* y;
  const void* x;
  DType y_dtype;
  DType x_dtype;
  float alpha;
  Overflow overflow;  // of fp8
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/scaled_copy/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::scaled_copy {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "x"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return supported();
}

void* row_of(const TensorView& view, std::int64_t r) {
  return static_cast<char*>(view.data) + r * view.stride(0) * info(view.dtype).unit_bytes;
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const auto alpha = static_cast<float>(problem.number("alpha"));
  const Overflow overflow =
      problem.option("overflow") == "special" ? Overflow::to_special : Overflow::saturate;
  return {.run = [alpha, overflow](const Context& context, const Arguments& args) {
    const auto compute = ROOFTILE_SIMD_CHOOSE(scale_row);
    const TensorView& y = args["y"];
    const TensorView& x = args["x"];
    for_each_piece(*context.stream, y.extent(0), y.extent(1),
                   [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                     compute({.y = row_of(y, r),
                              .x = row_of(x, r),
                              .y_dtype = y.dtype,
                              .x_dtype = x.dtype,
                              .alpha = alpha,
                              .overflow = overflow},
                             begin, end);
                   });
  }};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "scaled_copy",
    .name = "cpu_simd",
    .idea = "blocks of f32 that stay in cache, long rows shared by threads",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::scaled_copy
