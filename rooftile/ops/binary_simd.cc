// SPDX-License-Identifier: Apache-2.0
// Two rows element by element, a block at a time: widened to f32, computed, narrowed. Types are
// looked up once a block, so that no mixture of them costs code. Long rows are shared by threads.
#include <algorithm>

#include "rooftile/core/dtype.h"
#include "rooftile/device/cpu/pieces.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/binary.h"

namespace rooftile {
namespace {

struct BinaryRow {
  void* y;
  const void* a;
  const void* b;
  DType y_dtype;
  DType a_dtype;
  DType b_dtype;
  ops::BinaryFn fn;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/binary_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "a", "b"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return supported();
}

// The start of row r.
void* row_of(const TensorView& view, std::int64_t r) {
  const DTypeInfo& type = info(view.dtype);
  return static_cast<char*>(view.data) + r * view.stride(0) * type.unit_bytes;
}

void run(BinaryFn fn, const Context& context, const Arguments& args) {
  const auto compute = ROOFTILE_SIMD_CHOOSE(binary_row);
  const TensorView& y = args["y"];
  const TensorView& a = args["a"];
  const TensorView& b = args["b"];
  for_each_piece(*context.stream, y.extent(0), y.extent(1),
                 [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                   compute({.y = row_of(y, r),
                            .a = row_of(a, r),
                            .b = row_of(b, r),
                            .y_dtype = y.dtype,
                            .a_dtype = a.dtype,
                            .b_dtype = b.dtype,
                            .fn = fn},
                           begin, end);
                 });
}

}  // namespace

KernelDef binary_simd(BinaryFn fn, const std::string& op) {
  return {
      .op = op,
      .name = "cpu_simd",
      .idea = "blocks of f32 that stay in cache, long rows shared by threads",
      .determinism = Determinism::batch_invariant,
      .supports = supports,
      .prepare =
          [fn](const Problem&, Device&, const Config&) {
            return Prepared{.run = [fn](const Context& context, const Arguments& args) {
              run(fn, context, args);
            }};
          },
  };
}

}  // namespace rooftile::ops
