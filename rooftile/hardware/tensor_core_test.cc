// SPDX-License-Identifier: Apache-2.0
// The model of the tensor cores against an H200's own results: the operands are made again from
// their seeds, and of each tile's results a hash is compared. Recorded by
// tests/hardware/tensor_core_probe.cu on an NVIDIA H200, driver 580.159.04, nvcc 13.0, 2026-11-29.
#include "rooftile/hardware/tensor_core.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "tests/hardware/tensor_core_cases.h"

namespace rooftile {
namespace {

using testing::Element;
using testing::Instruction;
using testing::instructions;
using testing::kColumns;
using testing::Operand;

/// The value of a code, written out here so that the test does not lean on the codecs.
float widened(Element element, std::uint32_t code) {
  if (element == Element::f32) return std::bit_cast<float>(code);
  const testing::Fields f = testing::fields_of(element);
  code >>= f.unused;
  const auto all = [](int bits) { return (1U << bits) - 1; };
  const std::uint32_t mantissa = code & all(f.mantissa_bits);
  const int field = static_cast<int>(code >> f.mantissa_bits & all(f.exponent_bits));
  const bool is_negative = (code >> (f.exponent_bits + f.mantissa_bits) & 1) != 0;
  float value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias() - f.mantissa_bits);
  if (field > 0)
    value = std::ldexp(static_cast<float>(mantissa + all(f.mantissa_bits) + 1),
                       field - f.bias() - f.mantissa_bits);
  if (element == Element::e4m3 && field == f.last() && mantissa == all(3)) value = NAN;
  if (element != Element::e4m3 && field == f.last()) value = mantissa == 0 ? INFINITY : NAN;
  return is_negative ? -value : value;
}

/// The word that the card writes: a float, or fp16 in the low half.
std::uint32_t narrowed(Element accumulator, float value) {
  if (accumulator == Element::f32) return std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::abs(value);
  if (std::isinf(value)) return sign | 0x7c00;
  if (magnitude < 0x1p-14F) return sign | static_cast<std::uint32_t>(magnitude * 0x1p24F);
  return sign | (std::bit_cast<std::uint32_t>(magnitude) - (112U << 23)) >> 13;
}

std::int32_t integer(Element element, std::uint32_t code) {
  return element == Element::s8 ? static_cast<std::int8_t>(code) : static_cast<std::int32_t>(code);
}

MatrixType type_of(Element element) {
  switch (element) {
    case Element::bf16:
      return MatrixType::bf16;
    case Element::f16:
      return MatrixType::fp16;
    case Element::tf32:
      return MatrixType::tf32;
    case Element::e4m3:
      return MatrixType::e4m3;
    default:
      return MatrixType::e5m2;
  }
}

TensorCoreRules rules_of(const Instruction& in) {
  return tensor_core_rules(in.is_wgmma ? MatrixUnit::wgmma : MatrixUnit::mma, type_of(in.a),
                           type_of(in.b),
                           in.accumulator == Element::f16 ? Accumulator::fp16 : Accumulator::f32);
}

/// One tile's operands, widened; B as n x k for dot() and as k x n for mma_f32().
struct Tile {
  std::vector<float> a, b, b_transposed, c;
};

bool has(const Instruction& in, const char* word) {
  return std::string_view(in.name).find(word) != std::string_view::npos;
}

Tile tile_of(int id, int tile) {
  const Instruction& in = instructions()[static_cast<std::size_t>(id)];
  const float sign = has(in, "minus_a") ? -1.0F : 1.0F;
  Tile t;
  for (int row = 0; row < in.rows(); ++row)
    for (int k = 0; k < in.k; ++k)
      t.a.push_back(sign * widened(in.a, testing::code_at(id, tile, Operand::a, row, k)));
  t.b_transposed.resize(static_cast<std::size_t>(in.k * kColumns));
  for (int column = 0; column < kColumns; ++column)
    for (int k = 0; k < in.k; ++k) {
      t.b.push_back(widened(in.b, testing::code_at(id, tile, Operand::b, column, k)));
      t.b_transposed[static_cast<std::size_t>(k * kColumns + column)] = t.b.back();
    }
  for (int i = 0; i < in.rows() * kColumns; ++i) {
    const std::uint32_t code = testing::code_at(id, tile, Operand::c, i / kColumns, i % kColumns);
    t.c.push_back(has(in, "no_c") ? 0.0F : widened(in.accumulator, code));
  }
  return t;
}

std::vector<std::uint32_t> by_dot(const Instruction& in, const Tile& t) {
  const auto k = static_cast<std::size_t>(in.k);
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < t.c.size(); ++i)
    words.push_back(narrowed(in.accumulator, dot(rules_of(in), {&t.a[i / kColumns * k], k},
                                                 {&t.b[i % kColumns * k], k}, t.c[i])));
  return words;
}

std::vector<std::uint32_t> by_mma(const Instruction& in, const Tile& t) {
  std::vector<float> d = t.c;
  mma_f32(rules_of(in), in.rows(), kColumns, in.k, t.a.data(), t.b_transposed.data(), d.data());
  std::vector<std::uint32_t> words;
  for (const float value : d) words.push_back(narrowed(in.accumulator, value));
  return words;
}

std::vector<std::uint32_t> by_integers(int id, int tile) {
  const Instruction& in = instructions()[static_cast<std::size_t>(id)];
  const auto k = static_cast<std::size_t>(in.k);
  std::vector<std::int32_t> a, b;
  for (int i = 0; i < in.rows() * in.k; ++i)
    a.push_back(integer(in.a, testing::code_at(id, tile, Operand::a, i / in.k, i % in.k)));
  for (int i = 0; i < kColumns * in.k; ++i)
    b.push_back(integer(in.b, testing::code_at(id, tile, Operand::b, i / in.k, i % in.k)));
  std::vector<std::uint32_t> words;
  for (int i = 0; i < in.rows() * kColumns; ++i) {
    const auto row = static_cast<std::size_t>(i / kColumns);
    const auto column = static_cast<std::size_t>(i % kColumns);
    const std::uint32_t c = testing::code_at(id, tile, Operand::c, i / kColumns, i % kColumns);
    words.push_back(
        static_cast<std::uint32_t>(dot_s32({&a[row * k], k}, {&b[column * k], k},
                                           static_cast<std::int32_t>(c), has(in, "satfinite"))));
  }
  return words;
}

const char* golden_path() { return ROOFTILE_SOURCE_DIR "/tests/hardware/tensor_core_h200.bin"; }

std::vector<std::uint32_t> golden_hashes(int id) {
  std::ifstream file(golden_path(), std::ios::binary);
  std::streamoff before = 0;
  for (int i = 0; i < id; ++i) before += instructions()[static_cast<std::size_t>(i)].tiles();
  file.seekg(before * 4);
  std::vector<std::uint32_t> hashes(
      static_cast<std::size_t>(instructions()[static_cast<std::size_t>(id)].tiles()));
  file.read(reinterpret_cast<char*>(hashes.data()),
            static_cast<std::streamsize>(hashes.size() * 4));
  EXPECT_TRUE(file) << golden_path();
  return hashes;
}

class TensorCore : public ::testing::TestWithParam<int> {};

TEST_P(TensorCore, GivesTheCardsBits) {
  const int id = GetParam();
  const Instruction& in = instructions()[static_cast<std::size_t>(id)];
  const std::vector<std::uint32_t> golden = golden_hashes(id);
  int tile = 0;
  for (const std::uint32_t hash : golden) {
    const bool is_integer = in.accumulator == Element::s32;
    const Tile operands = is_integer ? Tile{} : tile_of(id, tile);
    const auto words = is_integer ? by_integers(id, tile) : by_dot(in, operands);
    const auto count = static_cast<int>(words.size());
    ASSERT_EQ(testing::hash_of(words.data(), count), hash) << in.name << " tile " << tile;
    if (!is_integer) {
      ASSERT_EQ(by_mma(in, operands), words) << in.name << " tile " << tile;
    }
    ++tile;
  }
}

INSTANTIATE_TEST_SUITE_P(H200, TensorCore,
                         ::testing::Range(0, static_cast<int>(instructions().size())),
                         [](const auto& test) {
                           return std::string(
                               instructions()[static_cast<std::size_t>(test.param)].name);
                         });

// Results in the clear, one of each mode of data, to look at when a hash differs.
TEST(TensorCoreSamples, AreTheCards) {
  std::ifstream file(ROOFTILE_SOURCE_DIR "/tests/hardware/tensor_core_h200.txt");
  std::string name;
  int tile = 0, row = 0, column = 0, checked = 0;
  std::uint32_t expected = 0;
  while (file >> name >> std::dec >> tile >> row >> column >> std::hex >> expected) {
    int id = 0;
    while (instructions()[static_cast<std::size_t>(id)].name != name) ++id;
    const Instruction& in = instructions()[static_cast<std::size_t>(id)];
    const bool is_integer = in.accumulator == Element::s32;
    const auto words = is_integer ? by_integers(id, tile) : by_dot(in, tile_of(id, tile));
    EXPECT_EQ(words[static_cast<std::size_t>(row * kColumns + column)], expected)
        << name << " tile " << tile << " row " << row << " column " << column;
    ++checked;
  }
  EXPECT_EQ(checked, 440);
}

float one_product(const TensorCoreRules& rules, float a, float b, float c) {
  return dot(rules, {&a, 1}, {&b, 1}, c);
}

TEST(TensorCoreRules, ByHand) {
  const auto bf16 =
      tensor_core_rules(MatrixUnit::wgmma, MatrixType::bf16, MatrixType::bf16, Accumulator::f32);
  const auto e4m3 =
      tensor_core_rules(MatrixUnit::wgmma, MatrixType::e4m3, MatrixType::e4m3, Accumulator::f32);
  EXPECT_EQ(one_product(bf16, 1, 1, 0x1p-23F), 1 + 0x1p-23F);
  EXPECT_EQ(one_product(bf16, 1, 1, 0x1.8p-24F), 1);  // cut, not rounded
  EXPECT_EQ(one_product(bf16, 1, 1, -0x1p-25F), std::nextafterf(1, 0));
  EXPECT_EQ(one_product(bf16, 1, 1, -0x1p-26F), 1);  // below the 25 bits that are kept
  EXPECT_EQ(one_product(e4m3, 1, 1, 0x1p-13F), 1 + 0x1p-13F);
  EXPECT_EQ(one_product(e4m3, 1, 1, 0x1.8p-14F), 1);
  EXPECT_EQ(one_product(e4m3, 0, 0, 1.99999F), 1 + 8191.0F / 8192);  // c loses its low bits
}

TEST(TensorCoreRules, RefusesWhatPtxDoesNotHave) {
  using enum MatrixType;
  EXPECT_THROW(tensor_core_rules(MatrixUnit::mma, bf16, fp16, Accumulator::f32), Error);
  EXPECT_THROW(tensor_core_rules(MatrixUnit::mma, e4m3, fp16, Accumulator::f32), Error);
  EXPECT_THROW(tensor_core_rules(MatrixUnit::wgmma, bf16, bf16, Accumulator::fp16), Error);
  const auto rules = tensor_core_rules(MatrixUnit::mma, e4m3, e5m2, Accumulator::f32);
  const std::vector<float> long_k(33), odd_k(6);
  EXPECT_THROW(dot(rules, long_k, long_k, 0), Error);
  EXPECT_THROW(dot(rules, odd_k, odd_k, 0), Error);
  EXPECT_THROW(mma_f32(rules, 1, 1, 0, nullptr, nullptr, nullptr), Error);
}

TEST(TensorCoreRules, AnyShapeGivesTheSameBitsAsDot) {
  const auto rules =
      tensor_core_rules(MatrixUnit::wgmma, MatrixType::fp16, MatrixType::fp16, Accumulator::f32);
  constexpr int kM = 3, kN = 13, kK = 5;
  std::vector<float> a(kM * kK), b(kK * kN), d(kM * kN);
  std::uint32_t seed = 1;
  for (auto* matrix : {&a, &b, &d})
    for (float& x : *matrix)
      x = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 21) - 1024;
  const std::vector<float> c = d;
  mma_f32(rules, kM, kN, kK, a.data(), b.data(), d.data());
  for (std::size_t i = 0; i < d.size(); ++i) {
    std::vector<float> column;
    for (std::size_t k = 0; k < kK; ++k) column.push_back(b[k * kN + i % kN]);
    EXPECT_EQ(d[i], dot(rules, {&a[i / kN * kK], kK}, column, c[i]));
  }
}

}  // namespace
}  // namespace rooftile
