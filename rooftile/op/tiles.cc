// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/tiles.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "rooftile/base/parallel.h"

namespace rooftile {
namespace {

constexpr std::int64_t kTileElements = 4096;
// Of a tile whose runs lie across the rows: each then reads whole cache lines of both sides.
constexpr std::int64_t kAcross = 64;

struct Axis {
  std::int64_t extent, order, stride;
};

// Without axes of one element, and with neighbours joined that are one axis in memory.
std::vector<Axis> joined_axes(const Dims& shape, const Dims& strides) {
  const Dims order = row_major(shape);
  std::vector<Axis> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    Axis axis{shape[i], order[i], strides[i]};
    if (!axes.empty() && axes.back().stride == axis.extent * axis.stride) {
      axis.extent *= axes.back().extent;
      axes.back() = axis;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// The axis of the least stride reaches less far than one step of the next, and so on.
bool apart(std::vector<Axis> axes) {
  std::ranges::sort(axes, {}, [](const Axis& axis) { return std::abs(axis.stride); });
  std::int64_t reach = 0;
  for (const Axis& axis : axes) {
    if (std::abs(axis.stride) <= reach) return false;
    reach += (axis.extent - 1) * std::abs(axis.stride);
  }
  return true;
}

std::int64_t parts(std::int64_t extent, std::int64_t part) { return (extent + part - 1) / part; }

}  // namespace

Tiles::Tiles(const Dims& shape, const Dims& strides, std::int64_t unit) {
  if (num_elements(shape) == 0) return;
  std::vector<Axis> axes = joined_axes(shape, strides);
  are_apart_ = apart(axes);
  const auto take = [&](std::size_t i) {
    const Axis axis = axes[i];
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    return axis;
  };
  if (!axes.empty()) {
    const auto of_ones = std::ranges::find(axes.rbegin(), axes.rend(), 1, &Axis::stride);
    const Axis along = take(
        of_ones == axes.rend() ? axes.size() - 1
                               : static_cast<std::size_t>(std::distance(of_ones, axes.rend())) - 1);
    extent = along.extent;
    index_step = along.order;
    stride = along.stride;
  }
  if (!axes.empty()) {
    const Axis across = take(axes.size() - 1);
    run_extent_ = across.extent;
    run_index_step = across.order;
    run_stride = across.stride;
  }
  for (const Axis& axis : axes) {
    shape_.push_back(axis.extent);
    order_.push_back(axis.order);
    strides_.push_back(axis.stride);
  }
  const std::int64_t wanted = index_step == 1 ? kTileElements : kAcross;
  length_ = std::min(parts(wanted, unit) * unit, extent);
  runs_ = std::clamp<std::int64_t>(kTileElements / length_, 1, run_extent_);
  count_ = num_elements(shape_) * parts(run_extent_, runs_) * parts(extent, length_);
}

Tile Tiles::operator[](std::int64_t i) const {
  const std::int64_t in_run = parts(extent, length_);
  const std::int64_t across = parts(run_extent_, runs_);
  const std::int64_t first = i % in_run * length_;
  i /= in_run;
  const std::int64_t run = i % across * runs_;
  i /= across;
  Tile tile{.index = first * index_step + run * run_index_step,
            .offset = first * stride + run * run_stride,
            .runs = std::min(runs_, run_extent_ - run),
            .length = std::min(length_, extent - first)};
  for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
    tile.index += i % shape_[axis] * order_[axis];
    tile.offset += i % shape_[axis] * strides_[axis];
    i /= shape_[axis];
  }
  return tile;
}

bool Tiles::are_whole(std::int64_t unit) const {
  if (unit == 1) return true;
  return stride == 1 && extent % unit == 0 && run_stride % unit == 0 &&
         std::ranges::all_of(strides_, [&](std::int64_t step) { return step % unit == 0; });
}

void Tiles::for_each(bool is_parallel, FunctionRef<void(const Tile&)> visit) const {
  const auto range = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) visit((*this)[static_cast<std::int64_t>(i)]);
  };
  const auto count = static_cast<std::size_t>(count_);
  if (!is_parallel) return range(0, count);
  in_parallel(count, kParallelElements / static_cast<std::size_t>(length_ * runs_) + 1, range);
}

}  // namespace rooftile
