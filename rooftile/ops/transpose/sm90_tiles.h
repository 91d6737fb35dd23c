// SPDX-License-Identifier: Apache-2.0
// What the launchers of transpose's kernels for GPUs share: square tiles, a block each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/core/problem.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/transpose/sm90_call.h"

namespace rooftile::ops::transpose {

/// "plain<unsigned short>", as in a kernel's table.
inline std::string instance(std::string_view kernel, const Problem& problem) {
  const bool is_wide = info(problem.dtype("x")).unit_bytes == 4;
  return std::string(kernel) + (is_wide ? "<unsigned>" : "<unsigned short>");
}

/// x cut into squares of `side` elements, row by row.
struct Tiles {
  std::int64_t of_row;
  std::int64_t of_column;

  Tiles(const Problem& problem, std::int64_t side)
      : of_row((problem.axis("cols") + side - 1) / side),
        of_column((problem.axis("rows") + side - 1) / side) {}

  [[nodiscard]] std::int64_t count() const { return of_row * of_column; }

  [[nodiscard]] LaunchShape shape(Extent3 block) const {
    return {.grid = {.x = static_cast<std::uint32_t>(count())}, .block = block};
  }

  [[nodiscard]] Support supports() const {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    if (of_row > 0 && of_column > kMost / of_row) return unsupported("more than 2^31 - 1 tiles");
    return supported();
  }
};

/// For kernels that take rows of adjacent elements.
inline Support supports_rows(const Problem& problem, std::int64_t side) {
  for (const char* name : {"y", "x"})
    if (problem.arg(name).shape[1] > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return Tiles(problem, side).supports();
}

inline TileCall call_of(const Arguments& args, const Tiles& tiles) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const auto is_aligned = [](const TensorView& view) {
    return reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 &&
           (view.extent(0) <= 1 || view.stride(0) * info(view.dtype).unit_bytes % 16 == 0);
  };
  return {.y = y.data,
          .x = x.data,
          .y_stride = y.stride(0),
          .x_stride = x.stride(0),
          .rows = x.extent(0),
          .cols = x.extent(1),
          .tiles_of_row = tiles.of_row,
          .y_is_aligned = is_aligned(y),
          .x_is_aligned = is_aligned(x)};
}

/// A kernel of `table` with a block of `threads` for each tile of `side` elements.
inline Prepared prepare_tiles(const KernelTable& table, std::string_view kernel_name,
                              const Problem& problem, std::int64_t side, Extent3 threads) {
  const Tiles tiles(problem, side);
  const GpuKernel kernel = find_kernel(table, instance(kernel_name, problem));
  return {.run = [=](const Context& context, const Arguments& args) {
    if (tiles.count() > 0)
      launch(*context.stream, kernel, tiles.shape(threads), call_of(args, tiles));
  }};
}

}  // namespace rooftile::ops::transpose
