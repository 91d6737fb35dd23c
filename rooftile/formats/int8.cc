// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int8.h"

#include "rooftile/formats/affine.h"
#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

constexpr IntegerRange kRange{-127, 127};

void check(std::size_t codes, std::size_t scales, std::size_t values, std::int64_t group) {
  const auto n = static_cast<std::int64_t>(values);
  check_count("int8 codes", codes, n);
  check_count("int8 scales", scales, num_blocks(n, group));
}

}  // namespace

void quantise_int8(std::span<std::int8_t> codes, std::span<float> scales,
                   std::span<const float> values, std::int64_t group) {
  check(codes.size(), scales.size(), values.size(), group);
  std::size_t index = 0;
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const auto block = block_of(values, static_cast<std::int64_t>(g), group);
    const Affine affine = symmetric_affine(block, kRange);
    scales[g] = affine.scale;
    for (const float value : block)
      codes[index++] = static_cast<std::int8_t>(encode_affine(value, affine, kRange));
  }
}

void dequantise_int8(std::span<float> values, std::span<const std::int8_t> codes,
                     std::span<const float> scales, std::int64_t group) {
  check(codes.size(), scales.size(), values.size(), group);
  std::size_t index = 0;
  for (std::size_t g = 0; g < scales.size(); ++g) {
    for (float& value : block_of(values, static_cast<std::int64_t>(g), group))
      value = decode_affine(codes[index++], {scales[g]});
  }
}

}  // namespace rooftile
