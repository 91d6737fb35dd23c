// SPDX-License-Identifier: Apache-2.0
// The maximum of each block over vectors, without indices; only the first block that has the row's
// maximum is searched for where. A long row is shared by threads: each part's answer is exact, so
// the parts combine to the same whatever their number.
#include <algorithm>

#include "rooftile/core/dtype.h"
#include "rooftile/device/cpu/pieces.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {

// The largest number of a part of a row and the first index that has it; -infinity and the part's
// first index where it has no number.
struct Largest {
  float value;
  std::int64_t index;
  bool has_number;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/argmax/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::argmax {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("cols") > 1 && problem.arg("x").strides[1] != 1)
    return unsupported("x: elements of a row must be adjacent");
  return supported();
}

const void* row_of(const TensorView& view, std::int64_t r) {
  return static_cast<const char*>(view.data) +
         r * view.stride(0) * std::int64_t{info(view.dtype).unit_bytes};
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const std::int64_t cols = problem.axis("cols");
  const std::int64_t parts = (cols + kPieceElements - 1) / kPieceElements;
  const auto run = [cols, parts](const Context& context, const Arguments& args) {
    const auto find = ROOFTILE_SIMD_CHOOSE(largest_of);
    const TensorView& ids = args["ids"];
    const TensorView& x = args["x"];
    const auto answer = [&](std::int64_t r, const Largest& largest) {
      ids.as<std::int32_t>()[r * ids.stride(0)] =
          static_cast<std::int32_t>(largest.has_number ? largest.index : 0);
    };
    if (parts == 1) {
      for_each_piece(*context.stream, x.extent(0), cols,
                     [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                       answer(r, find(row_of(x, r), x.dtype, begin, end));
                     });
      return;
    }
    auto* found = static_cast<Largest*>(context.workspace);  // [rows, parts]
    for_each_piece(*context.stream, x.extent(0), cols,
                   [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                     found[r * parts + begin / kPieceElements] =
                         find(row_of(x, r), x.dtype, begin, end);
                   });
    context.stream->launch(1, [&](std::int64_t) {
      for (std::int64_t r = 0; r < x.extent(0); ++r) {
        Largest best = found[r * parts];
        for (std::int64_t p = 1; p < parts; ++p) {
          const Largest& other = found[r * parts + p];
          if (other.has_number && (!best.has_number || other.value > best.value)) best = other;
        }
        answer(r, best);
      }
    });
  };
  const std::int64_t slots = parts > 1 ? problem.axis("rows") * parts : 0;
  return {.run = run, .workspace_bytes = slots * std::int64_t{sizeof(Largest)}};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "argmax",
    .name = "cpu_simd",
    .idea = "maxima of blocks over vectors, then one block searched; long rows shared by threads",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::argmax
