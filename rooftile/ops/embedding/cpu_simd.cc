// SPDX-License-Identifier: Apache-2.0
// A row in blocks: copied where nothing changes, else decoded to f32, scaled and narrowed.
#include <algorithm>
#include <cstring>

#include "rooftile/device/cpu/decode_row.h"
#include "rooftile/device/cpu/pieces.h"
#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"

namespace rooftile {
namespace {

struct EmbeddingRow {
  void* y;
  const void* table_row;  // null: no such row
  DType y_dtype;
  DType table_dtype;
  float scale;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/embedding/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::embedding {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "table"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return supported();
}

void* row_of(const TensorView& view, std::int64_t r) {
  const DTypeInfo& type = info(view.dtype);
  return static_cast<char*>(view.data) + r * view.stride(0) / type.unit_elements * type.unit_bytes;
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const auto scale = static_cast<float>(problem.number("scale"));
  return {.run = [scale](const Context& context, const Arguments& args) {
    const auto compute = ROOFTILE_SIMD_CHOOSE(embedding_row);
    const TensorView& y = args["y"];
    const TensorView& table = args["table"];
    const TensorView& ids = args["ids"];
    for_each_piece(*context.stream, y.extent(0), y.extent(1),
                   [&](std::int64_t r, std::int64_t begin, std::int64_t end) {
                     const std::int64_t id = ids.as<const std::int32_t>()[r * ids.stride(0)];
                     const bool is_in_table = id >= 0 && id < table.extent(0);
                     compute({.y = row_of(y, r),
                              .table_row = is_in_table ? row_of(table, id) : nullptr,
                              .y_dtype = y.dtype,
                              .table_dtype = table.dtype,
                              .scale = scale},
                             begin, end);
                   });
  }};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "embedding",
    .name = "cpu_simd",
    .idea = "rows copied where nothing changes, else widened, scaled and narrowed in cache",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::embedding
