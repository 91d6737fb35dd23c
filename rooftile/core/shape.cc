// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/shape.h"

#include "rooftile/base/text.h"

namespace rooftile {

std::int64_t checked_product(std::span<const std::int64_t> factors, std::string_view what) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors)
    if (factor < 0) fail_input(std::string(what) + ": negative extent " + std::to_string(factor));
  for (const std::int64_t factor : factors)
    if (factor == 0) return 0;
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      fail_input(std::string(what) + ": the product of the extents does not fit in 63 bits");
  return product;
}

std::int64_t checked_product(std::initializer_list<std::int64_t> factors, std::string_view what) {
  return checked_product(std::span(factors.begin(), factors.size()), what);
}

std::int64_t num_elements(const Dims& shape) {
  return checked_product(std::span(shape.begin(), shape.end()), "a tensor's elements");
}

Dims row_major(const Dims& shape) {
  Dims strides = shape;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride = checked_product({stride, std::max<std::int64_t>(shape[i], 1)}, "a tensor's strides");
  }
  return strides;
}

bool is_contiguous(const Dims& shape, const Dims& strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

OffsetRange offset_range(const Dims& shape, const Dims& strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return {0, -1};
  OffsetRange range{0, 0};
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? range.least : range.greatest, reach,
                               reach < 0 ? &range.least : &range.greatest))
      fail_input("stride " + std::to_string(strides[i]) + " of extent " + std::to_string(shape[i]) +
                 ": offsets do not fit in 63 bits");
  }
  return range;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.rank(); ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace rooftile
