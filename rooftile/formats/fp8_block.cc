// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/fp8_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/core/shape.h"
#include "rooftile/formats/block.h"
#include "rooftile/formats/e8m0.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

void check(std::size_t codes, std::size_t scales, std::size_t values, std::int64_t rows,
           std::int64_t cols, const Fp8BlockOptions& options) {
  const DType element = options.element;
  if (element != DType::e4m3 && element != DType::e5m2 && element != DType::e4m3fnuz &&
      element != DType::e5m2fnuz)
    fail_input("an FP8 block has FP8 elements, not " + std::string(name(element)));
  if (!(options.least_scale > 0)) fail_input("least_scale must be positive");
  const std::int64_t elements = checked_product({rows, cols}, "an FP8 matrix");
  check_count("values of an FP8 matrix", values, elements);
  check_count("bytes of FP8 codes", codes, elements);
  check_count("FP8 block scales", scales,
              num_blocks(rows, options.block_rows) * num_blocks(cols, options.block_cols));
}

// The tile that has element (row, col), as an index into the scales.
struct TileMap {
  std::int64_t block_rows, block_cols, tiles_across;
  TileMap(std::int64_t rows, std::int64_t cols, const Fp8BlockOptions& options)
      : block_rows(options.block_rows == -1 ? std::max<std::int64_t>(rows, 1) : options.block_rows),
        block_cols(options.block_cols == -1 ? std::max<std::int64_t>(cols, 1) : options.block_cols),
        tiles_across(num_blocks(cols, block_cols)) {}
  [[nodiscard]] std::size_t operator()(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>(row / block_rows * tiles_across + col / block_cols);
  }
};

float scale_of(float amax, const Fp8BlockOptions& options) {
  if (std::isnan(amax)) return amax;
  const double exact =
      std::max<double>(amax / info(options.element).max_finite, options.least_scale);
  if (options.power_of_two_scale) return static_cast<float>(to_e8m0(exact, ScaleRounding::ceil));
  return static_cast<float>(exact);
}

}  // namespace

void quantise_fp8_block(std::span<std::uint8_t> codes, std::span<float> scales,
                        std::span<const float> values, std::int64_t rows, std::int64_t cols,
                        const Fp8BlockOptions& options) {
  check(codes.size(), scales.size(), values.size(), rows, cols, options);
  const TileMap tile(rows, cols, options);
  std::ranges::fill(scales, 0.0F);
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    float& amax = scales[tile(i / cols, i % cols)];
    const float value = std::fabs(values[static_cast<std::size_t>(i)]);
    if (!std::isfinite(value)) amax = std::numeric_limits<float>::quiet_NaN();
    if (value > amax) amax = value;  // false once it is NaN
  }
  for (float& scale : scales) scale = scale_of(scale, options);
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const double scale = scales[tile(i / cols, i % cols)];
    const float value = values[static_cast<std::size_t>(i)];
    store_element(options.element, codes.data(), i, std::isnan(scale) ? 0.0 : value / scale);
  }
}

void dequantise_fp8_block(std::span<float> values, std::span<const std::uint8_t> codes,
                          std::span<const float> scales, std::int64_t rows, std::int64_t cols,
                          const Fp8BlockOptions& options) {
  check(codes.size(), scales.size(), values.size(), rows, cols, options);
  const TileMap tile(rows, cols, options);
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const double code = load_element(options.element, codes.data(), i);
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(code * scales[tile(i / cols, i % cols)]);
  }
}

}  // namespace rooftile
