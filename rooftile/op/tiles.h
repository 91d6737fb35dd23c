// SPDX-License-Identifier: Apache-2.0
// The elements of a strided tensor in pieces small enough for a cache and large enough for a loop:
// what large tensors are stored, loaded and compared by, on several threads.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"
#include "rooftile/core/shape.h"

namespace ROOFTILE_API rooftile {

/// `runs` runs of `length` elements. `index` is the place of the first in row-major order, `offset`
/// the one in memory.
struct Tile {
  std::int64_t index = 0, offset = 0;
  std::int64_t runs = 1, length = 1;
};

/// Element i of run r of a tile has index + r * run_index_step + i * index_step in row-major order,
/// and offset + r * run_stride + i * stride in memory.
class Tiles {
 public:
  /// Runs lie along the axis of stride 1 where there is one, else along the last, and begin at
  /// multiples of `unit` of it.
  Tiles(const Dims& shape, const Dims& strides, std::int64_t unit = 1);

  [[nodiscard]] std::int64_t count() const { return count_; }
  Tile operator[](std::int64_t i) const;

  /// Whether no two elements have the same place in memory (true may be reported as false).
  [[nodiscard]] bool are_apart() const { return are_apart_; }

  /// Whether every run begins and ends between units of this many elements.
  [[nodiscard]] bool are_whole(std::int64_t unit) const;

  /// Calls visit(tile) for every tile, from several threads if `is_parallel`.
  void for_each(bool is_parallel, FunctionRef<void(const Tile&)> visit) const;

  std::int64_t index_step = 1, stride = 1;
  std::int64_t run_index_step = 0, run_stride = 0;
  std::int64_t extent = 1;  // of the axis along which runs lie

 private:
  Dims shape_, order_, strides_;  // of the axes beside the two of a tile
  std::int64_t run_extent_ = 1;   // of the axis across the runs
  std::int64_t length_ = 1, runs_ = 1;
  std::int64_t count_ = 0;
  bool are_apart_ = true;
};

}  // namespace rooftile
