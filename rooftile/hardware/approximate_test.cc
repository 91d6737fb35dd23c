// SPDX-License-Identifier: Apache-2.0
// The approximate functions against hashes of an H200's results, one for each 2^18 inputs. A test
// takes a few of the 16,384; all were compared when the tables were made. Recorded by
// tests/hardware/arithmetic_probe.cu on an NVIDIA H200, driver 580.159.04, nvcc 13.0, 2026-11-29
// (tanh, sin and cos: by its kernels alone, driver 580.159.04, 2026-11-30).
#include "rooftile/hardware/approximate.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>

namespace rooftile {
namespace {

constexpr int kChunkBits = 18;

struct Function {
  const char* name;
  float (*function)(float, Subnormals);
  Subnormals subnormals;
};

// Of these .ftz changes nothing, or there is none.
float tanh_any(float x, Subnormals) { return tanh_approx(x); }
float sin_any(float x, Subnormals) { return sin_approx(x); }
float cos_any(float x, Subnormals) { return cos_approx(x); }

// In the order of the file.
constexpr Function kFunctions[] = {
    {"ex2_ftz", ex2_approx, Subnormals::flush},
    {"ex2", ex2_approx, Subnormals::keep},
    {"rcp_ftz", rcp_approx, Subnormals::flush},
    {"rcp", rcp_approx, Subnormals::keep},
    {"rsqrt_ftz", rsqrt_approx, Subnormals::flush},
    {"rsqrt", rsqrt_approx, Subnormals::keep},
    {"sqrt_ftz", sqrt_approx, Subnormals::flush},
    {"sqrt", sqrt_approx, Subnormals::keep},
    {"lg2_ftz", lg2_approx, Subnormals::flush},
    {"lg2", lg2_approx, Subnormals::keep},
    {"tanh", tanh_any, Subnormals::keep},
    {"sin_ftz", sin_any, Subnormals::flush},
    {"sin", sin_any, Subnormals::keep},
    {"cos_ftz", cos_any, Subnormals::flush},
    {"cos", cos_any, Subnormals::keep},
};

/// As tests/hardware/arithmetic_probe.cu makes it.
std::uint32_t chunk_hash(const Function& f, std::uint32_t chunk) {
  std::uint32_t sum = 0;
  for (std::uint32_t j = 0; j < 1U << kChunkBits; ++j) {
    const float input = std::bit_cast<float>(chunk << kChunkBits | j);
    std::uint32_t h =
        std::bit_cast<std::uint32_t>(f.function(input, f.subnormals)) ^ (j * 0x9e3779b9U);
    h = (h ^ h >> 16) * 0x85ebca6bU;
    h = (h ^ h >> 13) * 0xc2b2ae35U;
    sum += h ^ h >> 16;
  }
  return sum;
}

class Approximate : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Approximate, GivesTheCardsBits) {
  const Function& f = kFunctions[GetParam()];
  std::ifstream file(ROOFTILE_SOURCE_DIR "/tests/hardware/approximate_h200.txt");
  std::string name;
  std::uint32_t chunk = 0, expected = 0;
  int checked = 0;
  while (file >> name >> std::hex >> chunk >> expected) {
    if (name != f.name) continue;
    EXPECT_EQ(chunk_hash(f, chunk), expected)
        << f.name << " inputs from 0x" << std::hex << (chunk << kChunkBits);
    ++checked;
  }
  EXPECT_EQ(checked, 24);
}

INSTANTIATE_TEST_SUITE_P(H200, Approximate, ::testing::Range(std::size_t{0}, std::size(kFunctions)),
                         [](const auto& test) { return std::string(kFunctions[test.param].name); });

/// Of all 2^16 operands of a function on halves; `narrow` makes the card's code of a result.
template <class Widen, class Narrow>
std::uint32_t half_hash(float (*function)(float), Widen widen, Narrow narrow) {
  std::uint32_t sum = 0;
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const float result = function(widen(code));
    const std::uint32_t h = std::isnan(result) ? 0x7fff : narrow(result);
    sum += (h + 1) * (code * 0x9e3779b9U | 1);
  }
  return sum;
}

float from_fp16(std::uint32_t code) {
  const auto field = static_cast<int>(code >> 10 & 31);
  const auto mantissa = static_cast<float>(code & 1023);
  float value = field == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, field - 25);
  if (field == 31) value = mantissa == 0 ? INFINITY : NAN;
  return (code & 0x8000) != 0 ? -value : value;
}
std::uint32_t to_fp16(float value) {  // exact
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::abs(value);
  if (std::isinf(value)) return sign | 0x7c00;
  if (value < 0x1p-14F) return sign | static_cast<std::uint32_t>(value * 0x1p24F);
  return sign | (std::bit_cast<std::uint32_t>(value) - (112U << 23)) >> 13;
}

TEST(Approximate, HalvesAreTheCards) {
  const auto from_bf16 = [](std::uint32_t code) { return std::bit_cast<float>(code << 16); };
  const auto to_bf16 = [](float value) { return std::bit_cast<std::uint32_t>(value) >> 16; };
  EXPECT_EQ(half_hash(ex2_approx_bf16, from_bf16, to_bf16), 0x4c1aa219U);
  EXPECT_EQ(half_hash(ex2_approx_fp16, from_fp16, to_fp16), 0xbfaab117U);
  EXPECT_EQ(half_hash(tanh_approx_bf16, from_bf16, to_bf16), 0x75691d8eU);
  EXPECT_EQ(half_hash(tanh_approx_fp16, from_fp16, to_fp16), 0x74f48698U);
}

TEST(Approximate, TanhHasTheCardsBitsInEveryRow) {  // the chunks of the file meet half of them
  std::uint32_t hash = 0;
  for (std::uint32_t input = 0x3b800000; input < 0x41000000; input += 4099)  // from 2^-8 to 8
    hash = hash * 31 + std::bit_cast<std::uint32_t>(tanh_approx(std::bit_cast<float>(input)));
  EXPECT_EQ(hash, 0x6855a16eU);
}

TEST(Approximate, EdgesAsTheCardGaveThem) {
  EXPECT_EQ(ex2_approx(0, Subnormals::keep), 1);
  EXPECT_EQ(ex2_approx(-127.25F, Subnormals::flush), 0);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(ex2_approx(-127.25F, Subnormals::keep)), 0x0035d13fU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(rcp_approx(0x1p-126F, Subnormals::keep)), 0x7e800000U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(rsqrt_approx(128, Subnormals::keep)), 0x3db504f2U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(lg2_approx(0.5F, Subnormals::keep)), 0xbf7ffffeU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sqrt_approx(-1, Subnormals::keep)), 0x7fffffffU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(tanh_approx(-0x1p-149F)), 0x80000001U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(tanh_approx(1)), 0x3f42f848U);
  EXPECT_EQ(tanh_approx(-INFINITY), -1);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sin_approx(0.5F)), 0x3ef57740U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sin_approx(0x1p25F)), 0x80000000U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(cos_approx(0x1p25F)), 0xbf800000U);
  EXPECT_EQ(cos_approx(0), 1);
  EXPECT_TRUE(std::isnan(cos_approx(-INFINITY)));
}

}  // namespace
}  // namespace rooftile
