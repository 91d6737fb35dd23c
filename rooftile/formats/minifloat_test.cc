// SPDX-License-Identifier: Apache-2.0
// Every code of every type, every midpoint between neighbours and both doubles beside it, against a
// second definition of the formats made of ldexp and a search in a sorted table.
#include "rooftile/formats/minifloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp4.h"
#include "rooftile/formats/fp6.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/tf32.h"

namespace rooftile {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kSpecial = Overflow::to_special;
constexpr auto kSaturate = Overflow::saturate;

// tf32 keeps its code in the upper bits of a word.
template <class T>
constexpr int kCodeShift = 0;
template <>
constexpr int kCodeShift<tf32> = tf32::kUnusedBits;

template <class T>
T of_code(std::uint32_t code) {
  return {static_cast<decltype(T::bits)>(code << kCodeShift<T>)};
}
template <class T>
std::uint32_t code_of(T element) {
  return static_cast<std::uint32_t>(element.bits) >> kCodeShift<T>;
}
template <class T>
double value_of(std::uint32_t code) {
  return static_cast<float>(of_code<T>(code));
}

// The facts of each type as its specification prints them.
struct Facts {
  int exponent_bits, mantissa_bits, bias;
  double max_finite;
  bool has_infinity, has_nan, has_negative_zero;
};
template <class T>
Facts facts();
template <>
Facts facts<bf16>() {
  return {8, 7, 127, 0x1.fep127, true, true, true};
}
template <>
Facts facts<fp16>() {
  return {5, 10, 15, 65504, true, true, true};
}
template <>
Facts facts<tf32>() {
  return {8, 10, 127, 0x1.ffcp127, true, true, true};
}
template <>
Facts facts<e4m3>() {
  return {4, 3, 7, 448, false, true, true};
}
template <>
Facts facts<e5m2>() {
  return {5, 2, 15, 57344, true, true, true};
}
template <>
Facts facts<e4m3fnuz>() {
  return {4, 3, 8, 240, false, true, false};
}
template <>
Facts facts<e5m2fnuz>() {
  return {5, 2, 16, 57344, false, true, false};
}
template <>
Facts facts<e3m2>() {
  return {3, 2, 3, 28, false, false, true};
}
template <>
Facts facts<e2m3>() {
  return {2, 3, 1, 7.5, false, false, true};
}
template <>
Facts facts<e2m1>() {
  return {2, 1, 1, 6, false, false, true};
}

// The numbers 0, ..., maximum, and one more: what would follow if there were another exponent.
// The index is the code.
template <class T>
std::vector<double> ladder() {
  const Facts f = facts<T>();
  std::vector<double> values;
  do {
    const int code = static_cast<int>(values.size());
    const int exponent = code >> f.mantissa_bits;
    const int mantissa = code & ((1 << f.mantissa_bits) - 1);
    const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
    const int scale = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits;
    values.push_back(std::ldexp(hidden + mantissa, scale));
  } while (values.back() <= f.max_finite);
  return values;
}

template <class T>
class MinifloatTest : public testing::Test {};
using Types = testing::Types<bf16, fp16, tf32, e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m2, e2m3, e2m1>;
TYPED_TEST_SUITE(MinifloatTest, Types);

TYPED_TEST(MinifloatTest, EveryCodeDecodesAsSpecified) {
  const Facts f = facts<TypeParam>();
  const std::vector<double> values = ladder<TypeParam>();
  const std::uint32_t sign = 1U << (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
  for (std::uint32_t code = 0; code < sign; ++code) {
    const double positive = value_of<TypeParam>(code), negative = value_of<TypeParam>(code | sign);
    if (code + 1 < values.size()) {
      ASSERT_EQ(positive, values[code]) << code;
      if (code == 0 && !f.has_negative_zero) {
        ASSERT_TRUE(std::isnan(negative));
        continue;
      }
      ASSERT_EQ(negative, -values[code]) << code;
      ASSERT_EQ(std::signbit(negative), true) << code;
    } else if (f.has_infinity && code == infinity) {
      ASSERT_EQ(positive, kInf);
      ASSERT_EQ(negative, -kInf);
    } else {
      ASSERT_TRUE(f.has_nan && std::isnan(positive) && std::isnan(negative)) << code;
    }
  }
}

TYPED_TEST(MinifloatTest, EveryCodeEncodesBackToItself) {
  constexpr FloatFormat kFormat = TypeParam::kFormat;
  for (std::uint32_t code = 0; code < 1U << kFormat.bits(); ++code) {
    const float value = static_cast<float>(of_code<TypeParam>(code));
    const auto from_float = encode<TypeParam>(value, kSpecial);
    const auto from_double = encode<TypeParam>(static_cast<double>(value), kSpecial);
    ASSERT_EQ(from_float.bits, from_double.bits) << code;
    if (std::isnan(value))
      ASSERT_TRUE(kFormat.is_nan(code) && kFormat.is_nan(code_of(from_float))) << code;
    else
      ASSERT_EQ(code_of(from_float), code) << code;
  }
}

template <class T>
void expect_code(double value, std::uint32_t code, Rounding rounding) {
  ASSERT_EQ(code_of(encode<T>(value, kSaturate, rounding)), code) << value;
  if (static_cast<float>(value) == value) {
    const auto single = static_cast<float>(value);
    ASSERT_EQ(code_of(encode<T>(single, kSaturate, rounding)), code) << value;
    ASSERT_EQ(code_of(encode<T>(single, T::kOverflow, rounding)), code) << value;
  }
  const std::uint32_t sign =
      code == 0 && !facts<T>().has_negative_zero ? 0 : T::kFormat.sign_mask();
  ASSERT_EQ(code_of(encode<T>(-value, kSaturate, rounding)), sign | code) << -value;
}

TYPED_TEST(MinifloatTest, BetweenEveryTwoNeighbours) {
  const std::vector<double> values = ladder<TypeParam>();
  for (std::uint32_t code = 0; code + 2 < values.size(); ++code) {
    const double low = values[code], high = values[code + 1], middle = (low + high) / 2;
    const std::uint32_t even = code + (code & 1);
    expect_code<TypeParam>(middle, even, Rounding::nearest_even);
    expect_code<TypeParam>(middle, code + 1, Rounding::nearest_away);
    expect_code<TypeParam>(middle, code, Rounding::toward_zero);
    // One rounding: by way of float both of these would become the midpoint.
    const double below = std::nextafter(middle, 0), above = std::nextafter(middle, kInf);
    for (const Rounding nearest : {Rounding::nearest_even, Rounding::nearest_away}) {
      expect_code<TypeParam>(below, code, nearest);
      expect_code<TypeParam>(above, code + 1, nearest);
    }
    expect_code<TypeParam>(std::nextafter(high, 0), code, Rounding::toward_zero);
    expect_code<TypeParam>(std::nextafter(low, kInf), code, Rounding::toward_zero);
    // The floats beside it take the short way where a type has one.
    const auto single = static_cast<float>(middle);
    expect_code<TypeParam>(std::nextafterf(single, 0), code, Rounding::nearest_even);
    expect_code<TypeParam>(std::nextafterf(single, static_cast<float>(kInf)), code + 1,
                           Rounding::nearest_even);
  }
}

TYPED_TEST(MinifloatTest, Overflow) {
  const Facts f = facts<TypeParam>();
  const std::vector<double> values = ladder<TypeParam>();
  const auto most = static_cast<std::uint32_t>(values.size() - 2);
  const double threshold = (values[most] + values[most + 1]) / 2;
  const bool tie_fits = (most & 1) == 0;
  for (const double sign : {1.0, -1.0}) {
    const auto become = [&](double value, Overflow overflow, Rounding rounding) {
      return sign *
             value_of<TypeParam>(code_of(encode<TypeParam>(sign * value, overflow, rounding)));
    };
    const auto nearest = Rounding::nearest_even;
    const double beyond = std::nextafter(threshold, kInf);
    EXPECT_EQ(become(std::nextafter(threshold, 0), kSpecial, nearest), f.max_finite);
    for (const double value : {threshold, beyond, 1e300, kInf}) {
      EXPECT_EQ(become(value, kSaturate, nearest), f.max_finite);
      if (!f.has_nan || (value == threshold && tie_fits))
        EXPECT_EQ(become(value, kSpecial, nearest), f.max_finite);
      else if (f.has_infinity)
        EXPECT_EQ(become(value, kSpecial, nearest), kInf);
      else
        EXPECT_TRUE(std::isnan(become(value, kSpecial, nearest)));
    }
    EXPECT_EQ(become(1e300, kSpecial, Rounding::toward_zero), f.max_finite);
    const double infinity = become(kInf, kSpecial, Rounding::toward_zero);
    EXPECT_TRUE(f.has_infinity ? infinity == kInf : f.has_nan == std::isnan(infinity));
  }
}

TYPED_TEST(MinifloatTest, NanStaysNanWhereThereIsOne) {
  const Facts f = facts<TypeParam>();
  // Payloads in the lowest bits only, which a careless rounding turns into infinity.
  const float quiet = static_cast<float>(kNan);
  const float low = __builtin_bit_cast(float, 0x7f800001U);
  const double low_double = __builtin_bit_cast(double, 0x7ff0000000000001U);
  for (const Overflow overflow : {kSaturate, kSpecial}) {
    for (const Rounding rounding :
         {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero}) {
      for (const auto element : {encode<TypeParam>(quiet, overflow, rounding),
                                 encode<TypeParam>(low, overflow, rounding),
                                 encode<TypeParam>(-quiet, overflow, rounding),
                                 encode<TypeParam>(low_double, overflow, rounding)}) {
        const float value = static_cast<float>(element);
        if (f.has_nan)
          EXPECT_TRUE(std::isnan(value));
        else
          EXPECT_EQ(value, f.max_finite);  // as stated in fp6.h and fp4.h
      }
    }
  }
}

TYPED_TEST(MinifloatTest, TinyValuesRoundToZeroAndKeepTheirSign) {
  const bool keeps = facts<TypeParam>().has_negative_zero;
  for (const double tiny : {1e-300, 5e-324, 0.0}) {
    EXPECT_EQ(code_of(encode<TypeParam>(tiny)), 0U);
    EXPECT_EQ(code_of(encode<TypeParam>(-tiny)), keeps ? TypeParam::kFormat.sign_mask() : 0U);
  }
}

// The short ways of bf16 and fp16 against the general one, over a stride through all floats that is
// prime, so that every upper half meets many lower ones.
TEST(Shortcuts, AgreeWithTheGeneralCodec) {
  for (std::uint64_t word = 0; word < 1ULL << 32; word += 641) {
    const auto value = __builtin_bit_cast(float, static_cast<std::uint32_t>(word));
    ASSERT_EQ(encode<bf16>(value).bits, encode_bits<bf16::kFormat>(value, kSpecial)) << word;
    ASSERT_EQ(encode<fp16>(value).bits, encode_bits<fp16::kFormat>(value, kSpecial)) << word;
  }
}

static_assert(encode<bf16>(1.0F).bits == 0x3f80 && encode<bf16>(1.0).bits == 0x3f80);
static_assert(encode<fp16>(0x1p-24F).bits == 1 && encode<fp16>(65520.0).bits == 0x7c00);
static_assert(encode<tf32>(1.0F).bits == 0x3f800000);

}  // namespace
}  // namespace rooftile
