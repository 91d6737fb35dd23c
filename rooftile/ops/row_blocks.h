// SPDX-License-Identifier: Apache-2.0
// How kernels that work row by row on a GPU lay threads over a matrix, as tile/row_reduce.h wants
// them. It follows from a row alone, never from the number of rows: so does the order of a sum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/core/problem.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/op/kernel.h"
#include "rooftile/tile/matrix.h"

namespace rooftile::ops {

/// The type of an argument that kernels compute on in f32.
inline tile::Element element_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return tile::Element::f32;
    case DType::bf16:
      return tile::Element::bf16;
    case DType::fp16:
      return tile::Element::fp16;
    case DType::e4m3:
      return tile::Element::e4m3;
    case DType::e5m2:
      return tile::Element::e5m2;
    default:
      throw Error(ErrorCode::internal, "a kernel met " + std::string(name(dtype)));
  }
}

/// A tensor of two axes, or of one, as a row that stands for all.
inline tile::Matrix matrix_of(const TensorView& view) {
  const int rank = view.shape.rank();
  return {.data = view.data,
          .row_stride = rank == 2 ? view.stride(0) : 0,
          .col_stride = view.stride(rank - 1),
          .type = element_of(view.dtype)};
}

/// "rows<bf16, 4, true>", "rows<bf16, 4>" or "vector<float>", as in a kernel's table.
inline std::string instance(std::string_view kernel, DType dtype, std::int64_t packs = 0,
                            std::string_view more = "") {
  const std::string type = dtype == DType::f32 ? "float" : std::string(name(dtype));
  return std::string(kernel) + "<" + type + (packs == 0 ? "" : ", " + std::to_string(packs)) +
         (more.empty() ? "" : ", ") + std::string(more) + ">";
}

/// Whether this memory, or all rows of this matrix, start at multiples of 16 bytes.
inline bool is_pack_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}
inline bool is_pack_aligned(const TensorView& view) {
  return is_pack_aligned(view.data) &&
         (view.extent(0) <= 1 || view.stride(0) * info(view.dtype).unit_bytes % 16 == 0);
}

/// Threads of a row of `units`, `each` for a thread: a power of two up to a warp, else whole warps,
/// `most` in all.
inline std::uint32_t row_threads(std::int64_t units, std::int64_t each, std::int64_t most = 1024) {
  constexpr std::int64_t kWarp = 32;
  const std::int64_t wanted = std::max<std::int64_t>(1, (units + each - 1) / each);
  if (wanted > kWarp)
    return static_cast<std::uint32_t>(std::min((wanted + kWarp - 1) / kWarp * kWarp, most));
  std::uint32_t threads = 1;
  while (threads < wanted) threads *= 2;
  return threads;
}

/// Blocks of [rows, threads of a row]: 256 threads of short rows, or one row.
inline LaunchShape row_blocks(std::int64_t rows, std::uint32_t threads_of_row) {
  constexpr std::uint32_t kThreads = 256;
  const std::uint32_t rows_of_block = threads_of_row > 32 ? 1 : kThreads / threads_of_row;
  return {.grid = {.x = static_cast<std::uint32_t>((rows + rows_of_block - 1) / rows_of_block)},
          .block = {.x = threads_of_row, .y = rows_of_block}};
}

/// As in a kernel's table, whether rows of `units` leave no thread of row_blocks() without its
/// `each`: "false" for one, where an instance without tests (see tile::RowPacks) is no faster.
inline const char* fills(const LaunchShape& shape, std::int64_t units, std::int64_t each) {
  return each > 1 && shape.block.y == 1 && units == each * shape.block.x ? "true" : "false";
}

/// A block for each row, an element for each thread, up to 256; the blocks of more rows than a grid
/// has take several.
inline LaunchShape plain_row_blocks(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;
  const std::int64_t warps = (std::min(cols, kThreads) + 31) / 32;
  return {.grid = {.x = static_cast<std::uint32_t>(std::min(rows, kMostBlocks))},
          .block = {.x = static_cast<std::uint32_t>(warps * 32)}};
}

/// How many units of 16 bytes or 8 elements (`name`) a thread keeps of a row of `units`: 4, or 1
/// where a warp has enough threads. The first is the default.
inline std::vector<Config> kept_configs(const char* name, std::int64_t units) {
  const std::int64_t best = units <= 32 ? 1 : 4;
  return {{.values = {{name, best}}}, {.values = {{name, 5 - best}}}};
}

/// What a launch of a block for each row can take.
inline Support supports_row_blocks(const Problem& problem) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  if (problem.axis("rows") > kMost) return unsupported("rows: at most 2^31 - 1");
  return supported();
}

}  // namespace rooftile::ops
