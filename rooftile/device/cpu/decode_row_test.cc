// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/decode_row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/formats/gguf_blocks.h"

namespace rooftile {
namespace {

// Blocks of any bytes at all: scales that are subnormal, infinite or NaN too.
std::vector<std::uint8_t> any_bytes(std::int64_t count, std::uint64_t seed) {
  const Rng rng(seed, "decode_row");
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(rng.bits(i) >> 24);
  return bytes;
}

bool is_same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == 0 && b == 0) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

TEST(DecodeRow, GivesTheBitsOfTheCodec) {
  constexpr std::int64_t kElements = 256 * 64;
  for (const DTypeInfo& type : dtypes()) {
    if (!type.is_block()) continue;
    const auto row = any_bytes(bytes_of(type.dtype, kElements), 1);
    std::vector<float> expected(kElements), got(kElements + 1, 99);
    dequantise_blocks(type.dtype, row.data(), kElements, expected.data());
    decode_row(type.dtype, row.data(), 0, kElements, got.data());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(is_same(got[i], expected[i]))
          << type.name << ' ' << i << ": " << got[i] << " for " << expected[i];
    EXPECT_EQ(got.back(), 99);
  }
}

TEST(DecodeRow, BeginsAndEndsAtAnyGroup) {
  for (const DTypeInfo& type : dtypes()) {
    if (!type.is_block()) continue;
    const auto row = any_bytes(bytes_of(type.dtype, 1024), 2);
    std::vector<float> expected(1024);
    dequantise_blocks(type.dtype, row.data(), 1024, expected.data());
    for (const std::int64_t first : {0, 32, 224, 256, 480})
      for (const std::int64_t n : {0, 32, 64, 288, 512}) {
        std::vector<float> got(static_cast<std::size_t>(n) + 1, 99);
        decode_row(type.dtype, row.data(), first, n, got.data());
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_TRUE(is_same(got[static_cast<std::size_t>(i)],
                              expected[static_cast<std::size_t>(first + i)]))
              << type.name << ' ' << first << ' ' << i;
        EXPECT_EQ(got.back(), 99) << "written past the end";
      }
  }
}

TEST(DecodeRow, RefusesOtherTypes) {
  float value = 0;
  EXPECT_THROW(decode_row(DType::bf16, &value, 0, 32, &value), Error);
}

}  // namespace
}  // namespace rooftile
