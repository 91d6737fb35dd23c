// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/int4.h"

#include <string>

#include "rooftile/base/error.h"
#include "rooftile/formats/affine.h"
#include "rooftile/formats/block.h"

namespace rooftile {
namespace {

bool is_symmetric(const Int4Options& options) { return options.kind == Int4Kind::symmetric; }

void check_codes(std::size_t codes, std::size_t values) {
  check_count("bytes of int4 codes", codes, num_blocks(static_cast<std::int64_t>(values), 2));
}

void check_zero_points(std::size_t zero_points, std::size_t scales, const Int4Options& options) {
  check_count("int4 zero points", zero_points,
              is_symmetric(options) ? 0 : static_cast<std::int64_t>(scales));
}

std::size_t checked_group(std::int32_t group, std::size_t groups) {
  if (group < 0 || static_cast<std::size_t>(group) >= groups)
    fail_input("group " + std::to_string(group) + " of " + std::to_string(groups));
  return static_cast<std::size_t>(group);
}

}  // namespace

void quantise_int4(std::span<std::uint8_t> codes, std::span<float> scales,
                   std::span<std::uint8_t> zero_points, std::span<const float> values,
                   const Int4Options& options) {
  const auto n = static_cast<std::int64_t>(values.size());
  check_codes(codes.size(), values.size());
  check_count("int4 scales", scales.size(), num_blocks(n, options.group));
  check_zero_points(zero_points.size(), scales.size(), options);
  const bool symmetric = is_symmetric(options);
  const IntegerRange range = symmetric ? IntegerRange{-7, 7} : unsigned_range(4);
  std::int64_t index = 0;
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const auto block = block_of(values, static_cast<std::int64_t>(g), options.group);
    const Affine affine =
        symmetric ? symmetric_affine(block, range) : asymmetric_affine(block, range);
    scales[g] = affine.scale;
    if (!symmetric) zero_points[g] = static_cast<std::uint8_t>(affine.zero_point);
    for (const float value : block) {
      const int code = encode_affine(value, affine, range);
      store_nibble(codes.data(), index++, static_cast<std::uint32_t>(code), options.order);
    }
  }
}

void dequantise_int4(std::span<float> values, std::span<const std::uint8_t> codes,
                     std::span<const float> scales, std::span<const std::uint8_t> zero_points,
                     const Int4Options& options, std::span<const std::int32_t> group_index) {
  const auto n = static_cast<std::int64_t>(values.size());
  const bool by_index = !group_index.empty();
  const std::int64_t groups = num_blocks(n, options.group);
  check_codes(codes.size(), values.size());
  check_zero_points(zero_points.size(), scales.size(), options);
  if (by_index)
    check_count("int4 group indices", group_index.size(), n);
  else
    check_count("int4 scales", scales.size(), groups);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint8_t code =
        load_nibble(codes.data(), static_cast<std::int64_t>(i), options.order);
    const std::size_t position =
        options.group == -1 ? 0 : i / static_cast<std::size_t>(options.group);
    const std::size_t g = by_index ? checked_group(group_index[i], scales.size()) : position;
    values[i] = is_symmetric(options) ? decode_affine(sign_extend_nibble(code), {scales[g]})
                                      : decode_affine(code, {scales[g], zero_points[g]});
  }
}

std::uint8_t stored_zero_point(int zero_point, ZeroPointStorage storage) {
  const int stored = storage == ZeroPointStorage::plain ? zero_point : zero_point - 1;
  if (stored < 0 || stored > 15)
    fail_input("zero point " + std::to_string(zero_point) + " does not fit its 4 bits");
  return static_cast<std::uint8_t>(stored);
}

int meant_zero_point(std::uint8_t stored, ZeroPointStorage storage) {
  return storage == ZeroPointStorage::plain ? stored & 15 : (stored & 15) + 1;
}

}  // namespace rooftile
