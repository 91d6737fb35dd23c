// SPDX-License-Identifier: Apache-2.0
// The operands on which matrix instructions are recorded on a card and replayed by tests: bits made
// from (instruction, tile, place) alone, so that only the results have to be kept. Each mode of
// data separates hypotheses that others confuse: which exponent the addends are aligned to, how
// many bits survive, where a sum is normalised, what subnormals and infinities become.
#pragma once

#include <cstdint>
#include <vector>

namespace rooftile::testing {

enum class Element : uint8_t { bf16, f16, tf32, e4m3, e5m2, s8, u8, f32, s32 };

/// Where an element's fields are. `unused` low bits are random, and ignored by the hardware.
struct Fields {
  int bytes, exponent_bits, mantissa_bits, unused;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int last() const { return (1 << exponent_bits) - 1; }
};

inline Fields fields_of(Element element) {
  switch (element) {
    case Element::bf16:
      return {2, 8, 7, 0};
    case Element::f16:
      return {2, 5, 10, 0};
    case Element::tf32:
      return {4, 8, 10, 13};
    case Element::e4m3:
      return {1, 4, 3, 0};
    case Element::e5m2:
      return {1, 5, 2, 0};
    case Element::f32:
      return {4, 8, 23, 0};
    case Element::s32:
      return {4, 0, 0, 0};
    case Element::s8:
    case Element::u8:
      return {1, 0, 0, 0};
  }
  return {};
}

struct Instruction {
  const char* name;
  bool is_wgmma;
  Element accumulator, a, b;
  int k;
  int rows() const { return is_wgmma ? 64 : 16; }
  int tiles() const { return is_wgmma ? 270 : 1080; }  // 138,240 results of either
};
inline constexpr int kColumns = 8;

inline const std::vector<Instruction>& instructions() {
#define ROOFTILE_INSTRUCTION(id, unit, accumulator, a, b, k, suffix, scales) \
  {#id, #unit[0] == 'w', Element::accumulator, Element::a, Element::b, k},
  static const std::vector<Instruction> all = {
#include "tests/hardware/tensor_core_instructions.inc"
  };
#undef ROOFTILE_INSTRUCTION
  return all;
}

enum class Mode : uint8_t {
  normal,
  spread,
  cancel,
  sparse,
  subnormal,
  underflow,
  large,
  special,
  zeros,
  any_bits,
  count
};
inline Mode mode_of(int tile) { return static_cast<Mode>(tile % static_cast<int>(Mode::count)); }

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// One choice after another out of 64 random bits.
struct Dice {
  uint64_t state;
  int below(int n) {
    state = mix(state);
    return static_cast<int>((state >> 32) * static_cast<uint64_t>(n) >> 32);
  }
  bool one_in(int n) { return below(n) == 0; }
  uint32_t bits() {
    state = mix(state);
    return static_cast<uint32_t>(state >> 32);
  }
};

enum class Operand : uint8_t { a, b, c };

/// The exponent field of one element.
inline int exponent_field(Fields f, Mode mode, Operand operand, Dice& dice) {
  const bool wide = f.exponent_bits == 8;
  const int finite = f.last() - 1;
  int field = f.bias();
  switch (mode) {
    case Mode::spread:
      field = !wide
                  ? dice.below(finite + 1)
                  : f.bias() + (operand == Operand::c ? dice.below(81) - 40 : dice.below(33) - 16);
      break;
    case Mode::sparse:
      field += operand == Operand::c ? dice.below(61) - 30 : dice.below(25) - 12;
      break;
    case Mode::subnormal:
      field = operand == Operand::b && wide ? f.bias() - 30 + dice.below(36) : dice.below(4);
      if (operand == Operand::b && !wide) field = dice.below(f.bias());
      if (operand == Operand::c && !wide) field = dice.below(6);
      break;
    case Mode::underflow:  // sums below the least subnormal: what is their sign, if zero?
      field = operand == Operand::c ? 0 : dice.below(wide ? 2 : 5);
      if (operand == Operand::b && wide) field = f.bias() - 40 + dice.below(20);
      break;
    case Mode::large:
      field = operand == Operand::b && wide ? f.bias() - 3 + dice.below(6) : finite - dice.below(4);
      if (operand == Operand::b && !wide) field = finite - dice.below(f.bias());
      break;
    default:
      field += operand == Operand::c ? dice.below(17) - 8 : dice.below(7) - 3;
  }
  return field < 0 ? 0 : field > finite ? finite : field;
}

/// A code that is not an ordinary number: infinity, NaN, zero, the greatest, the least.
inline uint32_t special_code(Fields f, Dice& dice) {
  const uint32_t infinity = static_cast<uint32_t>(f.last()) << (f.mantissa_bits + f.unused);
  const uint32_t one = 1U << f.unused;
  switch (dice.below(7)) {
    case 0:
      return infinity;
    case 1:
      return infinity | one;
    case 2:
      return infinity | ((one << f.mantissa_bits) - 1);
    case 3:
      return 0;
    case 4:
      return infinity - 1;
    case 5:
      return one;
    default:
      return f.unused ? infinity | 1 : infinity;
  }
}

inline uint32_t float_code(Fields f, Mode mode, Operand operand, Dice& dice) {
  if (mode == Mode::any_bits) return dice.bits() >> (32 - 8 * f.bytes);
  const uint32_t sign = static_cast<uint32_t>(dice.below(2)) << (8 * f.bytes - 1);
  if (mode == Mode::zeros && !dice.one_in(operand == Operand::c ? 2 : 24))
    return sign |
           (operand == Operand::c && dice.one_in(2) ? dice.bits() >> (33 - f.mantissa_bits) : 0);
  if (mode == Mode::special && dice.one_in(operand == Operand::c ? 8 : 96))
    return sign | special_code(f, dice);
  if (mode == Mode::sparse && operand == Operand::a && !dice.one_in(4)) return sign;
  if (mode == Mode::underflow && operand == Operand::c) return sign | (dice.one_in(4) ? 1U : 0U);
  const int field = exponent_field(f, mode, operand, dice);
  const uint32_t all = (1U << f.mantissa_bits) - 1;
  const int shape = dice.below(mode == Mode::sparse ? 5 : 12);
  const uint32_t mantissa = shape == 0 ? 0 : shape == 1 ? all : shape == 2 ? 1 : dice.bits() & all;
  const uint32_t low = f.unused ? dice.bits() & ((1U << f.unused) - 1) : 0;
  return sign | (static_cast<uint32_t>(field) << f.mantissa_bits | mantissa) << f.unused | low;
}

/// The code of an element of A (row, k), B (column, k) or C (row, column).
inline uint32_t code_at(int instruction, int tile, Operand operand, int row, int column) {
  const Instruction& in = instructions()[static_cast<size_t>(instruction)];
  const Element element = operand == Operand::a   ? in.a
                          : operand == Operand::b ? in.b
                                                  : in.accumulator;
  const Fields f = fields_of(element);
  const Mode mode = mode_of(tile);
  // Pairs of products that cancel: neighbours in half of the tiles, half of k apart in the others.
  bool flip = false;
  if (mode == Mode::cancel && operand != Operand::c) {
    const int distance = tile / static_cast<int>(Mode::count) % 2 ? in.k / 2 : 1;
    const bool second = (column & distance) != 0;
    Dice again{mix(static_cast<uint64_t>(tile * 64 + row) * 64 + static_cast<uint64_t>(column))};
    if (second && !again.one_in(8)) {
      column ^= distance;
      flip = operand == Operand::a && !again.one_in(8);
    }
  }
  Dice dice{mix(((static_cast<uint64_t>(instruction) * 4096 + static_cast<uint64_t>(tile)) * 4 +
                 static_cast<uint64_t>(operand)) *
                    4096 +
                static_cast<uint64_t>(row * 64 + column))};
  if (f.exponent_bits == 0) {
    if (element == Element::s32 && dice.one_in(2))
      return (dice.one_in(2) ? 0x7fffffffU : 0x80000000U) + dice.bits() % 131072 - 65536;
    return dice.bits() >> (32 - 8 * f.bytes);
  }
  const uint32_t code = float_code(f, mode, operand, dice);
  return flip ? code ^ 1U << (8 * f.bytes - 1) : code;
}

/// FNV-1a over the words of one tile's results.
inline uint32_t hash_of(const uint32_t* words, int count) {
  uint32_t hash = 2166136261U;
  for (int i = 0; i < count; ++i)
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (words[i] >> 8 * byte & 255)) * 16777619U;
  return hash;
}

}  // namespace rooftile::testing
