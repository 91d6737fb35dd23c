// SPDX-License-Identifier: Apache-2.0
// A whole instruction at once: eight columns a vector. The idea: exponents are small integers, so
// the largest is found with integer adds and maxima; scaling by a power of two is exact; and a
// conversion to int32 cuts toward zero just as the hardware does. What that cannot say (infinities,
// NaN, sums near the ends of float's range) is left to dot(), one result at a time.
#include <algorithm>
#include <array>
#include <cstring>

#include "rooftile/hardware/tensor_core.h"
#include "rooftile/hardware/tensor_core_rounding.h"

namespace rooftile {
namespace {

constexpr int kLanes = 8;
using Floats = float __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using HalfInts = std::int32_t __attribute__((vector_size(16)));
using HalfFloats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(32)));
using Longs = std::int64_t __attribute__((vector_size(32)));

// Exponents that no sum of two others reaches, so that one comparison tells what is special.
constexpr int kZeroExponent = -(1 << 14);
constexpr int kSpecialExponent = 1 << 20;

// The exponents between which products are ordinary floats and sums ordinary results.
constexpr int kGreatestOrdinary = 125;
int least_ordinary(const TensorCoreRules& rules) { return -125 + rules.fraction_bits; }

#define ROOFTILE_INLINE [[gnu::always_inline]] inline

ROOFTILE_INLINE void exponents_of(const Floats& values, int least, Ints& exponents) {
  Ints bits;
  std::memcpy(&bits, &values, sizeof bits);
  const Ints field = bits >> 23 & 255;
  exponents = field - 127;
  exponents = exponents > least ? exponents : Ints{} + least;
  exponents = field == 255 ? Ints{} + kSpecialExponent : exponents;
  exponents = (bits & 0x7fffffff) == 0 ? Ints{} + kZeroExponent : exponents;
}

/// Eight columns of B, or of as many as there are, beside their exponents.
struct Panel {
  std::array<Floats, kMaxMatrixK> values;
  std::array<Ints, kMaxMatrixK> exponents;
};

ROOFTILE_INLINE void load_lanes(const float* from, int count, Floats& to) {
  if (count == kLanes) {
    std::memcpy(&to, from, sizeof to);  // of a known size: one instruction
  } else {
    to = Floats{};
    std::memcpy(&to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}

/// Rounds the half of the lanes that starts at `at`: (low + high) * 2^-scale.
template <class Rules>
ROOFTILE_INLINE void round_half(const Rules& rules, const Ints& low, const Ints& high,
                                const Ints& unit_bits, int at, HalfFloats& result) {
  HalfInts low_half, high_half;
  HalfFloats unit;
  std::memcpy(&low_half, reinterpret_cast<const std::int32_t*>(&low) + at, sizeof low_half);
  std::memcpy(&high_half, reinterpret_cast<const std::int32_t*>(&high) + at, sizeof high_half);
  std::memcpy(&unit, reinterpret_cast<const std::int32_t*>(&unit_bits) + at, sizeof unit);
  const Doubles exact =
      (__builtin_convertvector(low_half, Doubles) + __builtin_convertvector(high_half, Doubles)) *
      __builtin_convertvector(unit, Doubles);
  Longs bits;
  std::memcpy(&bits, &exact, sizeof bits);
  Doubles rounded;
  if (rules.result == Accumulator::fp16) {
    // To nearest even: as an integer where fp16 is normal; below, by an addition whose last place
    // is that of fp16's subnormals, 2^-24.
    const Longs up = bits + 0x1ffffffffff + (bits >> 42 & 1);
    const Longs normal_bits = up & ~std::int64_t{0x3ffffffffff};
    Doubles normal;
    std::memcpy(&normal, &normal_bits, sizeof normal);
    const Doubles subnormal = (exact + 0x1.8p28) - 0x1.8p28;
    const Longs magnitude = bits & 0x7fffffffffffffff;
    rounded = magnitude < 0x3f10000000000000 ? subnormal : normal;
    rounded = rounded >= 65536 ? Doubles{} + HUGE_VAL : rounded;
    rounded = rounded <= -65536 ? Doubles{} - HUGE_VAL : rounded;
    rounded += 0.0;
  } else {
    bits &= ~((std::int64_t{1} << (52 - rules.result_bits)) - 1);
    std::memcpy(&rounded, &bits, sizeof rounded);
  }
  result = __builtin_convertvector(rounded, HalfFloats);
}

/// One row of A times a panel: c becomes the results, `largest` the exponents they were aligned to.
template <int kFixed>
ROOFTILE_INLINE void multiply_row(const TensorCoreRules& rules, int any_k, const float* a,
                                  const std::int32_t* exponents_a, const Panel& panel, Floats& c,
                                  Ints& largest) {
  const int k = kFixed ? kFixed : any_k;
  exponents_of(c, rules.min_exponent_c, largest);
#pragma GCC unroll 8
  for (int i = 0; i < k; ++i) {
    const Ints exponent = panel.exponents[static_cast<std::size_t>(i)] + exponents_a[i];
    largest = exponent > largest ? exponent : largest;
  }
  // Outside the ordinary range the result is not used; the clamp keeps the arithmetic defined.
  Ints clamped = largest > kGreatestOrdinary ? Ints{} + kGreatestOrdinary : largest;
  const int least = least_ordinary(rules);
  clamped = clamped < least ? Ints{} + least : clamped;
  const Ints scale_bits = (rules.fraction_bits - clamped + 127) << 23;
  const Ints unit_bits = (clamped - rules.fraction_bits + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  // Two sums, as 16 products below 2^27 may pass 2^31.
  Ints low = __builtin_convertvector(c * scale, Ints), high{};
#pragma GCC unroll 8
  for (int i = 0; i < k; ++i) {
    const Ints addend =
        __builtin_convertvector(a[i] * panel.values[static_cast<std::size_t>(i)] * scale, Ints);
    (i % 2 == 0 ? low : high) += addend;
  }
  HalfFloats first, second;
  round_half(rules, low, high, unit_bits, 0, first);
  round_half(rules, low, high, unit_bits, 4, second);
  c = __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
}

struct Operands {
  int m, n, k;
  const float* a;
  const float* b;
  float* d;
};

float plain_result(const TensorCoreRules& rules, const Operands& x, int row, int column) {
  std::array<float, kMaxMatrixK> b{};
  for (int i = 0; i < x.k; ++i) b[static_cast<std::size_t>(i)] = x.b[i * x.n + column];
  const auto k = static_cast<std::size_t>(x.k);
  return dot(rules, {x.a + row * x.k, k}, {b.data(), k}, x.d[row * x.n + column]);
}

ROOFTILE_INLINE bool all_ordinary(const Ints& largest, int least) {
  const Ints outside = (largest < least) | (largest > kGreatestOrdinary);
  Longs pairs;
  std::memcpy(&pairs, &outside, sizeof pairs);
  return (pairs[0] | pairs[1] | pairs[2] | pairs[3]) == 0;
}

/// Stores the lanes that are ordinary or 0 and computes the others plainly.
void store_each(const TensorCoreRules& rules, const Operands& x, int row, int column, int count,
                const Floats& c, const Ints& largest) {
  const int least = least_ordinary(rules);
  for (int lane = 0; lane < count; ++lane) {
    const bool is_zero = largest[lane] < kZeroExponent / 2;
    const bool is_ordinary = largest[lane] >= least && largest[lane] <= kGreatestOrdinary;
    x.d[row * x.n + column + lane] = is_ordinary ? c[lane]
                                     : is_zero   ? 0.0F
                                                 : plain_result(rules, x, row, column + lane);
  }
}

/// Of some rows of A, kMaxMatrixK for each.
constexpr int kRowsAtOnce = 64;
using RowExponents = std::array<std::int32_t, kRowsAtOnce * kMaxMatrixK>;
static_assert(kMaxMatrixK % kLanes == 0);

ROOFTILE_INLINE void row_exponents(const TensorCoreRules& rules, const Operands& x, int first,
                                   int end, RowExponents& to) {
  for (int row = first; row < end; ++row)
    for (int i = 0; i < x.k; i += kLanes) {
      Floats values;
      Ints exponents;
      load_lanes(x.a + row * x.k + i, std::min(kLanes, x.k - i), values);
      exponents_of(values, rules.min_exponent_a, exponents);
      std::memcpy(&to[static_cast<std::size_t>((row - first) * kMaxMatrixK + i)], &exponents,
                  sizeof exponents);
    }
}

/// The rows from `first` on, at most kRowsAtOnce.
template <int kFixed>
ROOFTILE_INLINE void multiply_rows(const TensorCoreRules& rules, const Operands& x, int first,
                                   int end) {
  const int least = least_ordinary(rules);
  RowExponents exponents_a;
  row_exponents(rules, x, first, end, exponents_a);
  for (int column = 0; column < x.n; column += kLanes) {
    const int count = std::min(kLanes, x.n - column);
    Panel panel;
    for (int i = 0; i < x.k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      load_lanes(x.b + i * x.n + column, count, panel.values[at]);
      exponents_of(panel.values[at], rules.min_exponent_b, panel.exponents[at]);
    }
    for (int row = first; row < end; ++row) {
      float* d = x.d + row * x.n + column;
      Floats c;
      Ints largest;
      load_lanes(d, count, c);
      multiply_row<kFixed>(rules, x.k, x.a + row * x.k,
                           exponents_a.data() + (row - first) * kMaxMatrixK, panel, c, largest);
      if (count == kLanes && all_ordinary(largest, least))
        std::memcpy(d, &c, sizeof c);
      else
        store_each(rules, x, row, column, count, c, largest);
    }
  }
}

template <int kFixed>
ROOFTILE_INLINE void multiply(const TensorCoreRules& rules, const Operands& x) {
  for (int first = 0; first < x.m; first += kRowsAtOnce)
    multiply_rows<kFixed>(rules, x, first, std::min(first + kRowsAtOnce, x.m));
}

void multiply_generic(const TensorCoreRules& rules, const Operands& x) { multiply<0>(rules, x); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void multiply_avx2(const TensorCoreRules& rules, const Operands& x) {
  switch (x.k) {  // the usual ones, unrolled
    case 8:
      return multiply<8>(rules, x);
    case 16:
      return multiply<16>(rules, x);
    case 32:
      return multiply<32>(rules, x);
    default:
      return multiply<0>(rules, x);
  }
}
bool has_avx2() {
  static const bool answer = __builtin_cpu_supports("avx2") != 0;
  return answer;
}
#endif

void multiply_best(const TensorCoreRules& rules, const Operands& x) {
#if defined(__x86_64__)
  if (has_avx2()) return multiply_avx2(rules, x);
#endif
  multiply_generic(rules, x);
}

}  // namespace

void mma_f32(const TensorCoreRules& rules, int m, int n, int k, const float* a, const float* b,
             float* d) {
  check_matrix_k(rules, k);
  const Operands x{m, n, k, a, b, d};
  if (!rules.as_two_fp16_steps) return multiply_best(rules, x);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column)
      d[row * n + column] = plain_result(rules, x, row, column);
}

}  // namespace rooftile
