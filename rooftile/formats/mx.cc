// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/mx.h"

#include <cmath>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/formats/block.h"
#include "rooftile/formats/element.h"
#include "rooftile/formats/fp4.h"
#include "rooftile/formats/fp6.h"
#include "rooftile/formats/fp8.h"

namespace rooftile {
namespace {

FloatFormat mx_format(DType element) {
  switch (element) {
    case DType::e4m3:
      return e4m3::kFormat;
    case DType::e5m2:
      return e5m2::kFormat;
    case DType::e3m2:
      return e3m2::kFormat;
    case DType::e2m3:
      return e2m3::kFormat;
    case DType::e2m1:
      return e2m1::kFormat;
    default:
      break;
  }
  fail_input("an MX element is e4m3, e5m2, e3m2, e2m3 or e2m1, not " + std::string(name(element)));
}

void check_buffers(std::size_t codes, std::size_t scales, std::size_t values, DType element) {
  const auto n = static_cast<std::int64_t>(values);
  check_count("bytes of MX codes", codes, bytes_of(element, n));
  check_count("MX scales", scales, num_blocks(n, kMxBlock));
}

}  // namespace

void quantise_mx(std::span<std::uint8_t> codes, std::span<e8m0> scales,
                 std::span<const float> values, DType element, ScaleRounding rounding) {
  const FloatFormat format = mx_format(element);
  check_buffers(codes.size(), scales.size(), values.size(), element);
  std::int64_t index = 0;
  for (std::size_t b = 0; b < scales.size(); ++b) {
    const auto block = block_of(values, static_cast<std::int64_t>(b), kMxBlock);
    scales[b] = block_scale(finite_amax(block), format, rounding);
    const bool is_number = scales[b].bits != e8m0::kNan;
    const double scale = static_cast<float>(scales[b]);
    for (const float value : block)  // the quotient of two floats by a power of two is exact
      store_element(element, codes.data(), index++, is_number ? value / scale : 0.0);
  }
}

void dequantise_mx(std::span<float> values, std::span<const std::uint8_t> codes,
                   std::span<const e8m0> scales, DType element) {
  mx_format(element);
  check_buffers(codes.size(), scales.size(), values.size(), element);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double code = load_element(element, codes.data(), static_cast<std::int64_t>(i));
    values[i] = static_cast<float>(code * static_cast<float>(scales[i / kMxBlock]));
  }
}

}  // namespace rooftile
