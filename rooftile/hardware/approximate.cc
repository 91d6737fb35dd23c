// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/approximate.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "rooftile/hardware/approximate_tables.h"

namespace rooftile {
namespace {

using approximate_tables::Row;

/// One function's table and the weights of its terms, in units of its fixed point: 2^-18 of a last
/// place where no other is said.
struct Interpolator {
  std::span<const Row> rows;
  int c0_shift;
  std::int64_t c1_weight, c2_weight, rounding;
};

const Interpolator kReciprocal{approximate_tables::kReciprocal, 16, 4, 8, 16184};
const Interpolator kReciprocalRoot{approximate_tables::kReciprocalRoot, 16, 4, 16, 65535};
const Interpolator kRoot{approximate_tables::kRoot, 16, 1, 4, 65535};
const Interpolator kPower{approximate_tables::kPower, 16, 8, 8, 48912};
const Interpolator kLogarithm{approximate_tables::kLogarithm, 15, 8, 16, 6696};
const Interpolator kTanh{approximate_tables::kTanh, 16, 1, 4, 0};
const Interpolator kSine{approximate_tables::kSine, 12, 1, 1, 0};
constexpr int kFractionBits = 18;
constexpr int kRestBits = 17;  // of x

/// About x^2 / 2^19 of a 17-bit x: each partial product is cut before the sum.
std::int64_t square(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (int bit = 0; bit < kRestBits; ++bit)
    if ((x >> bit & 1) != 0) sum += x >> (18 - bit);
  return sum >> 1;
}

/// `x`: the bits below the row's index, aligned to 17 bits.
std::int64_t interpolate(const Interpolator& f, std::uint32_t index, std::uint32_t x) {
  const Row& row = f.rows[index];
  return (std::int64_t{row.c0} << f.c0_shift) + row.c1 * f.c1_weight * x +
         row.c2 * f.c2_weight * square(x) + f.rounding;
}

constexpr std::uint32_t kSign = 0x80000000U, kInfinity = 0x7f800000U;
constexpr float kScale = 0x1p24F;  // makes a subnormal normal

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
float nan_result() { return float_of(0x7fffffffU); }
bool is_subnormal(float x) { return x != 0 && std::abs(x) < 0x1p-126F; }
float flushed(float x) { return is_subnormal(x) ? std::copysign(0.0F, x) : x; }
int exponent_of(float normal) { return static_cast<int>(bits_of(normal) >> 23 & 255) - 127; }
std::uint32_t fraction_of(float normal) { return bits_of(normal) & 0x7fffff; }

/// `ulps` * 2^-23 * 2^exponent, ulps in 2^23..2^24; infinite or a zero outside float's normal
/// range.
float composed(std::uint32_t sign, int exponent, std::int64_t ulps) {
  const std::int64_t word = (std::int64_t{exponent + 126} << 23) + ulps;
  if (word < 1 << 23) return float_of(sign);
  return float_of(sign | (word >= kInfinity ? kInfinity : static_cast<std::uint32_t>(word)));
}

/// `fixed` * 2^-point_bits, cut to a float; fixed > 0.
float cut(std::uint32_t sign, std::int64_t fixed, int point_bits) {
  const int top = 63 - std::countl_zero(static_cast<std::uint64_t>(fixed));
  const std::int64_t ulps = top > 23 ? fixed >> (top - 23) : fixed << (23 - top);
  return composed(sign, top - point_bits, ulps);
}

// What the units themselves do: operands and results are flushed, except of tanh.

float unit_rcp(float x) {
  if (std::isnan(x)) return nan_result();
  const std::uint32_t sign = bits_of(x) & kSign;
  x = flushed(x);
  if (x == 0) return float_of(sign | kInfinity);
  if (std::isinf(x)) return float_of(sign);
  const std::uint32_t fraction = fraction_of(x);
  const std::int64_t ulps =
      interpolate(kReciprocal, fraction >> 16, (fraction & 0xffff) << 1) >> kFractionBits;
  return composed(sign, -exponent_of(x) - 1, ulps);
}

/// For rsqrt and sqrt: the table has rows for significands from 1 to 2, then from 2 to 4.
std::int64_t root_ulps(const Interpolator& f, float x) {
  const std::uint32_t fraction = fraction_of(x);
  const std::uint32_t odd = static_cast<std::uint32_t>(exponent_of(x)) & 1U;
  return interpolate(f, odd << 6 | fraction >> kRestBits, fraction & 0x1ffff) >> kFractionBits;
}
int half_exponent(float x) { return exponent_of(x) >> 1; }

float unit_rsqrt(float x) {
  if (std::isnan(x)) return nan_result();
  x = flushed(x);
  if (x == 0) return float_of((bits_of(x) & kSign) | kInfinity);
  if (x < 0) return nan_result();
  if (std::isinf(x)) return 0;
  const bool is_power_of_four = fraction_of(x) == 0 && exponent_of(x) % 2 == 0;
  return composed(0, -half_exponent(x) - 1,
                  is_power_of_four ? 1 << 24 : root_ulps(kReciprocalRoot, x));
}

float unit_sqrt(float x) {
  if (std::isnan(x)) return nan_result();
  x = flushed(x);
  if (x == 0 || (std::isinf(x) && x > 0)) return x;
  if (x < 0) return nan_result();
  return composed(0, half_exponent(x), root_ulps(kRoot, x));
}

float unit_ex2(float x) {
  if (std::isnan(x)) return nan_result();
  x = flushed(x);
  const bool is_negative = std::signbit(x);
  if (std::abs(x) >= 128) return is_negative ? 0 : float_of(kInfinity);
  // 7.23 bits of fixed point, cut toward zero; of a negative number the complement of the fraction.
  const auto fixed = static_cast<std::uint32_t>(std::abs(x) * 0x1p23F);
  int exponent = static_cast<int>(fixed >> 23);
  std::uint32_t fraction = fixed & 0x7fffff;
  if (is_negative) {
    exponent = fraction == 0 ? -exponent : -exponent - 1;
    if (fraction != 0) fraction ^= 0x7fffff;
  }
  const std::int64_t ulps =
      interpolate(kPower, fraction >> kRestBits, fraction & 0x1ffff) >> kFractionBits;
  return composed(0, exponent, ulps);
}

float unit_lg2(float x) {
  if (std::isnan(x)) return nan_result();
  x = flushed(x);
  if (x == 0) return float_of(kSign | kInfinity);
  if (x < 0) return nan_result();
  if (std::isinf(x)) return x;
  if (x == 1) return 0;
  constexpr int kPointBits = 36;  // of the fixed-point logarithm
  const std::uint32_t fraction = fraction_of(x);
  std::int64_t result = interpolate(kLogarithm, fraction >> kRestBits, fraction & 0x1ffff) >> 5;
  result += std::int64_t{exponent_of(x)} * (std::int64_t{1} << kPointBits);
  const bool is_negative = result < 0;
  if (is_negative) result = ~result;
  return result == 0 ? 0 : cut(is_negative ? kSign : 0, result, kPointBits);
}

/// Where an octave of tanh has its rows, and how many leading bits of the fraction choose one.
struct Octave {
  std::uint8_t first_row, index_bits;
};
constexpr int kFirstOctave = -8;
constexpr Octave kTanhOctaves[] = {{0, 0},  {1, 0},  {2, 0},  {3, 1},  {5, 1}, {7, 2},
                                   {11, 2}, {15, 2}, {19, 3}, {27, 4}, {43, 3}};

float unit_tanh(float x) {
  if (std::isnan(x)) return nan_result();
  if (std::abs(x) < 0x1p-8F) return x;
  constexpr int kPointBits = 40;
  const std::uint32_t sign = bits_of(x) & kSign;
  if (std::abs(x) >= 8) return float_of(sign | bits_of(1.0F));
  const auto [first_row, index_bits] = kTanhOctaves[exponent_of(x) - kFirstOctave];
  const std::uint32_t fraction = fraction_of(x);
  const int rest_bits = 23 - index_bits;
  const std::uint32_t rest = fraction & ((1U << rest_bits) - 1);
  const std::int64_t result =
      interpolate(kTanh, first_row + (fraction >> rest_bits), rest >> (rest_bits - kRestBits));
  return cut(sign, result, kPointBits);
}

constexpr std::uint32_t kQuarterTurn = 1U << 23;

/// |x| in turns, of fixed point; whole turns are left out. Before the unit's instruction the
/// compiler has one that multiplies by 1 / (2 pi), rounded to a float, and cuts the product.
std::uint32_t angle_of(float x) {
  const double product = std::abs(x) * 0x1.45f306p-3;  // exact
  const auto turns = std::bit_cast<double>(std::bit_cast<std::uint64_t>(product) >> 29 << 29);
  if (turns >= 0x1p24) return 0;  // whole, as floats are from there on
  return static_cast<std::uint64_t>(turns * (4.0 * kQuarterTurn)) % (4 * kQuarterTurn);
}

/// The sine of an angle; its sign is turned where `sign` is kSign.
float unit_sin(std::uint32_t sign, std::uint32_t angle) {
  constexpr int kPointBits = 37;
  const std::uint32_t quarter = angle / kQuarterTurn;
  std::uint32_t rest = angle % kQuarterTurn;
  if ((quarter & 2) != 0) sign ^= kSign;
  if ((quarter & 1) != 0) {
    if (rest == 0) return float_of(sign | bits_of(1.0F));
    rest ^= kQuarterTurn - 1;  // the complement mirrors it, but for a last bit
  }
  const std::int64_t result = interpolate(kSine, rest >> kRestBits, rest & 0x1ffff);
  return result == 0 ? float_of(sign) : cut(sign, result, kPointBits);
}

}  // namespace

// Without .ftz the compiler scales the operand into the units' range and the result back.

float ex2_approx(float x, Subnormals subnormals) {
  if (subnormals == Subnormals::flush || !(x < -126)) return unit_ex2(x);
  const float half = unit_ex2(x * 0.5F);
  return half * half;
}

float ex2_approx_bf16(float x) { return float_of(bits_of(unit_ex2(x)) & 0xffff0000U); }

float ex2_approx_fp16(float x) {
  if (std::isnan(x)) return nan_result();
  if (x >= 16) return float_of(kInfinity);
  const float result = unit_ex2(x);
  if (result >= 0x1p-14F) return float_of(bits_of(result) & ~0x1fffU);
  return std::trunc(result * 0x1p24F) * 0x1p-24F;  // fp16's subnormals
}

float rcp_approx(float x, Subnormals subnormals) {
  if (subnormals == Subnormals::flush) return unit_rcp(x);
  if (is_subnormal(x)) return unit_rcp(x * kScale) * kScale;
  return std::abs(x) > 0x1p126F ? unit_rcp(x * 0.25F) * 0.25F : unit_rcp(x);
}

float rsqrt_approx(float x, Subnormals subnormals) {
  if (subnormals == Subnormals::flush || !is_subnormal(x)) return unit_rsqrt(x);
  return unit_rsqrt(x * kScale) * 0x1p12F;
}

float sqrt_approx(float x, Subnormals subnormals) {
  if (subnormals == Subnormals::flush || !is_subnormal(x)) return unit_sqrt(x);
  return unit_sqrt(x * kScale) * 0x1p-12F;
}

float lg2_approx(float x, Subnormals subnormals) {
  if (subnormals == Subnormals::flush || !is_subnormal(x)) return unit_lg2(x);
  return unit_lg2(x * kScale) - 24;
}

float tanh_approx(float x) { return unit_tanh(x); }

float tanh_approx_bf16(float x) { return float_of(bits_of(unit_tanh(x)) & 0xffff0000U); }

float tanh_approx_fp16(float x) { return float_of(bits_of(unit_tanh(x)) & ~0x1fffU); }

float sin_approx(float x) {
  if (!std::isfinite(x)) return nan_result();
  return unit_sin(bits_of(x) & kSign, angle_of(x));
}

float cos_approx(float x) {
  if (!std::isfinite(x)) return nan_result();
  return unit_sin(0, angle_of(x) + kQuarterTurn);
}

}  // namespace rooftile
