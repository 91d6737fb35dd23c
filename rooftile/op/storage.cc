// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/storage.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/core/problem.h"
#include "rooftile/formats/element.h"
#include "rooftile/formats/scale_layout.h"
#include "rooftile/op/tiles.h"
#include "rooftile/op/values.h"

namespace rooftile {
namespace {

// Runs of stride 1 that begin with a unit go through the bulk conversions.
bool is_bulk(const TensorView& view, const Tiles& tiles, std::int64_t offset) {
  return tiles.stride == 1 && offset % info(view.dtype).unit_elements == 0;
}

void* unit_address(const TensorView& view, std::int64_t offset) {
  const DTypeInfo& type = info(view.dtype);
  return static_cast<char*>(view.data) + offset / type.unit_elements * type.unit_bytes;
}

// Of the elements of a tile, when they are not neighbours in row-major order, run after run.
using Buffer = std::vector<double>;

void load_run(const TensorView& view, const Tiles& tiles, std::int64_t offset, std::int64_t length,
              double* to) {
  if (is_bulk(view, tiles, offset))
    return widen(view.dtype, unit_address(view, offset), length, to);
  for (std::int64_t i = 0; i < length; ++i)
    to[i] = load_element(view.dtype, view.data, offset + i * tiles.stride);
}

void store_run(const TensorView& view, const Tiles& tiles, std::int64_t offset, std::int64_t length,
               const double* from) {
  if (is_bulk(view, tiles, offset))
    return narrow(view.dtype, from, length, unit_address(view, offset));
  for (std::int64_t i = 0; i < length; ++i)
    store_element(view.dtype, view.data, offset + i * tiles.stride, from[i]);
}

void load_codes(const TensorView& view, double* values) {
  const Tiles tiles(view.shape, view.strides, info(view.dtype).unit_elements);
  tiles.for_each(true, [&](const Tile& tile) {
    thread_local Buffer buffer;
    const bool is_direct = tiles.index_step == 1;
    if (!is_direct) buffer.resize(static_cast<std::size_t>(tile.runs * tile.length));
    double* const first = values + tile.index;
    for (std::int64_t r = 0; r < tile.runs; ++r)
      load_run(view, tiles, tile.offset + r * tiles.run_stride, tile.length,
               is_direct ? first + r * tiles.run_index_step : buffer.data() + r * tile.length);
    if (is_direct) return;
    for (std::int64_t i = 0; i < tile.length; ++i)
      for (std::int64_t r = 0; r < tile.runs; ++r)
        first[i * tiles.index_step + r * tiles.run_index_step] =
            buffer[static_cast<std::size_t>(r * tile.length + i)];
  });
}

void store_codes(const double* values, const TensorView& view) {
  const std::int64_t unit = info(view.dtype).unit_elements;
  const Tiles tiles(view.shape, view.strides, unit);
  // Elsewhere two threads could write the same byte.
  const bool is_parallel = tiles.are_apart() && tiles.are_whole(unit);
  tiles.for_each(is_parallel, [&](const Tile& tile) {
    thread_local Buffer buffer;
    const bool is_direct = tiles.index_step == 1;
    const double* const first = values + tile.index;
    if (!is_direct) {
      buffer.resize(static_cast<std::size_t>(tile.runs * tile.length));
      for (std::int64_t i = 0; i < tile.length; ++i)
        for (std::int64_t r = 0; r < tile.runs; ++r)
          buffer[static_cast<std::size_t>(r * tile.length + i)] =
              first[i * tiles.index_step + r * tiles.run_index_step];
    }
    for (std::int64_t r = 0; r < tile.runs; ++r)
      store_run(view, tiles, tile.offset + r * tiles.run_stride, tile.length,
                is_direct ? first + r * tiles.run_index_step : buffer.data() + r * tile.length);
  });
}

// The index of the scale of row-major element `index`, row-major among the scales.
std::int64_t scale_index(const TensorView& view, std::int64_t index) {
  std::int64_t scale = 0;
  std::int64_t step = 1;
  const Dims blocks = scale_shape(view.shape, view.scaling->block);
  for (int i = view.shape.rank() - 1; i >= 0; --i) {
    scale += index % view.shape[i] / view.scaling->block[i] * step;
    index /= view.shape[i];
    step *= blocks[i];
  }
  return scale;
}

// Where scale `index` stands in the scale tensor's memory.
std::int64_t scale_place(const Scaling& scaling, std::int64_t index) {
  if (scaling.layout == ScaleLayout::row_major) return index;
  const std::int64_t cols = scaling.scale.shape[scaling.scale.shape.rank() - 1];
  return swizzled_scale_offset(index / cols, index % cols, cols);
}

double load_scale(const Scaling& scaling, std::int64_t index) {
  double scale = load_element(scaling.scale.dtype, scaling.scale.data, scale_place(scaling, index));
  if (scaling.second_scale.is_present())
    scale *= load_element(scaling.second_scale.dtype, scaling.second_scale.data, 0);
  return scale;
}

// The scale that brings a block's largest magnitude to the type's largest number; 1 for zeros, and
// a power of two is taken upward so that nothing saturates.
double choose_scale(double amax, DType element, DType scale) {
  if (amax == 0) return 1;
  const double exact = amax / info(element).max_finite;
  return info(scale).kind == DTypeKind::scale ? std::exp2(std::ceil(std::log2(exact)))
                                              : round_to(scale, exact);
}

// The least and greatest value of a block, 0 included.
struct BlockRange {
  double least = 0;
  double most = 0;
  [[nodiscard]] double amax() const { return std::max(-least, most); }
};

std::vector<BlockRange> block_ranges(const std::vector<double>& values, const TensorView& view) {
  std::vector<BlockRange> ranges(static_cast<std::size_t>(num_elements(view.scaling->scale.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    BlockRange& range =
        ranges[static_cast<std::size_t>(scale_index(view, static_cast<std::int64_t>(i)))];
    range.least = std::min(range.least, values[i]);
    range.most = std::max(range.most, values[i]);
  }
  return ranges;
}

// With a zero point the block's least value gets the type's least code, its greatest the greatest.
void store_zero_point(const BlockRange& range, const TensorView& view, std::int64_t index,
                      double second) {
  const Scaling& scaling = *view.scaling;
  const double least_code = round_to(view.dtype, -HUGE_VAL);
  const double levels = info(view.dtype).max_finite - least_code;
  const double exact = range.amax() == 0 ? 1 : (range.most - range.least) / levels / second;
  store_element(scaling.scale.dtype, scaling.scale.data, scale_place(scaling, index), exact);
  const double scale = load_scale(scaling, index);
  const double zero = scale == 0 ? 0 : std::nearbyint(least_code - range.least / scale);
  store_element(scaling.zero_point.dtype, scaling.zero_point.data, index, zero);
}

void store_scaled(const std::vector<double>& values, const TensorView& view) {
  const Scaling& scaling = *view.scaling;
  const bool has_zero = scaling.zero_point.is_present();
  const std::vector<BlockRange> ranges = block_ranges(values, view);
  double second = 1;
  if (scaling.second_scale.is_present()) {
    double most = 0;
    for (const BlockRange& range : ranges) most = std::max(most, range.amax());
    if (most > 0)
      second = most / (info(view.dtype).max_finite * info(scaling.scale.dtype).max_finite);
    store_element(scaling.second_scale.dtype, scaling.second_scale.data, 0, second);
    second = load_element(scaling.second_scale.dtype, scaling.second_scale.data, 0);
  }
  for (std::size_t b = 0; b < ranges.size(); ++b) {
    const auto index = static_cast<std::int64_t>(b);
    if (has_zero) {
      store_zero_point(ranges[b], view, index, second);
    } else {
      store_element(scaling.scale.dtype, scaling.scale.data, scale_place(scaling, index),
                    choose_scale(ranges[b].amax() / second, view.dtype, scaling.scale.dtype));
    }
  }
  std::vector<double> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t index = scale_index(view, static_cast<std::int64_t>(i));
    const double scale = load_scale(scaling, index);
    codes[i] = scale == 0 ? 0 : values[i] / scale;
    if (has_zero)
      codes[i] += load_element(scaling.zero_point.dtype, scaling.zero_point.data, index);
  }
  store_codes(codes.data(), view);
}

}  // namespace

void load_view(const TensorView& view, std::vector<double>& values) {
  check_whole_blocks("a tensor", view.dtype, view.shape, view.strides);
  resize_large(values, static_cast<std::size_t>(num_elements(view.shape)));
  load_codes(view, values.data());
  if (view.scaling == nullptr) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t index = scale_index(view, static_cast<std::int64_t>(i));
    if (view.scaling->zero_point.is_present())
      values[i] -=
          load_element(view.scaling->zero_point.dtype, view.scaling->zero_point.data, index);
    values[i] *= load_scale(*view.scaling, index);
  }
}

void store_view(const std::vector<double>& values, const TensorView& view) {
  if (values.size() != static_cast<std::size_t>(num_elements(view.shape)))
    throw Error(ErrorCode::internal, "stored values do not fit the tensor's shape");
  check_whole_blocks("a tensor", view.dtype, view.shape, view.strides);
  if (view.scaling != nullptr) {
    store_scaled(values, view);
  } else {
    store_codes(values.data(), view);
  }
}

}  // namespace rooftile
