// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/element.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <ranges>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// All numbers of a type of at most 16 bits, as load_element reads them.
std::vector<double> all_numbers(DType dtype) {
  const DTypeInfo& type = info(dtype);
  const int bits = type.unit_bytes * 8 / type.unit_elements;
  std::vector<double> numbers;
  for (std::uint32_t code = 0; code < 1U << bits; ++code)
    numbers.push_back(load_element(dtype, &code, 0));
  return numbers;
}

// All but the blocks, whose elements cannot be written one by one.
auto element_types() {
  return dtypes() | std::views::filter([](const DTypeInfo& type) { return !type.is_block(); });
}

bool is_small(const DTypeInfo& type) { return type.unit_bytes <= 2 || type.is_packed(); }

TEST(Element, EveryNumberOfEveryTypeIsStoredAsItself) {
  for (const DTypeInfo& type : element_types()) {
    const std::vector<double> numbers =
        is_small(type) ? all_numbers(type.dtype)
                       : std::vector<double>{0, 1, -1, 3, -65536, type.max_finite, 1 << 30};
    const bool saturates = default_overflow(type.dtype) == Overflow::saturate;
    for (const double number : numbers) {
      if (std::isinf(number) && saturates) continue;
      ASSERT_TRUE(same(round_to(type.dtype, number), number)) << type.name << ' ' << number;
    }
  }
}

TEST(Element, StoringLeavesAllOthers) {
  for (const DTypeInfo& type : element_types()) {
    constexpr int kCount = 8;
    for (int index = 0; index < kCount; ++index) {
      std::array<std::uint8_t, 80> bytes{};
      bytes.fill(0x5a);
      const auto size = static_cast<std::size_t>(bytes_of(type.dtype, kCount));
      store_element(type.dtype, bytes.data() + 8, index, 1);
      std::array<std::uint8_t, 80> old{};
      old.fill(0x5a);
      for (int i = 0; i < kCount; ++i) {
        const double wanted = i == index ? 1 : load_element(type.dtype, old.data() + 8, i);
        ASSERT_TRUE(same(load_element(type.dtype, bytes.data() + 8, i), wanted)) << type.name;
      }
      for (std::size_t i = 0; i < bytes.size(); ++i)
        if (i < 8 || i >= 8 + size) {
          ASSERT_EQ(bytes[i], 0x5a) << type.name;
        }
    }
  }
}

TEST(Element, BulkIsTheSameAsOneByOne) {
  for (const DTypeInfo& type : element_types()) {
    constexpr int kCount = 7;  // a partial unit of every packed type
    const std::array<double, kCount> given{1, -2.5, 0.3, 1e9, 7, kInf, 0};
    std::array<std::uint8_t, 64> one{}, bulk{};
    one.fill(0xff);
    bulk.fill(0xff);
    for (int i = 0; i < kCount; ++i)
      store_element(type.dtype, one.data(), i, given[static_cast<std::size_t>(i)]);
    narrow(type.dtype, given.data(), kCount, bulk.data());
    EXPECT_EQ(one, bulk) << type.name;
    std::array<double, kCount> back{};
    widen(type.dtype, bulk.data(), kCount, back.data());
    for (int i = 0; i < kCount; ++i)
      EXPECT_TRUE(same(back[static_cast<std::size_t>(i)], load_element(type.dtype, one.data(), i)));
  }
}

TEST(Element, OverflowByDefaultAndByName) {
  for (const DTypeInfo& type : element_types()) {
    const bool is_wide = default_overflow(type.dtype) == Overflow::to_special;
    EXPECT_EQ(round_to(type.dtype, kInf), is_wide ? kInf : type.max_finite) << type.name;
    EXPECT_EQ(is_wide, type.kind == DTypeKind::floating && type.max_finite > 60000) << type.name;
    std::uint64_t unit = 0;
    store_element(type.dtype, &unit, 0, kInf, Overflow::saturate);
    EXPECT_EQ(load_element(type.dtype, &unit, 0), type.max_finite) << type.name;
  }
  std::uint8_t code = 0;
  store_element(DType::e5m2, &code, 0, 1e9, Overflow::to_special);
  EXPECT_EQ(code, 0x7c);
  for (const DType dtype : {DType::e2m1, DType::e3m2, DType::e2m3, DType::i8, DType::u4})
    EXPECT_THROW(store_element(dtype, &code, 0, 1, Overflow::to_special), Error);
}

TEST(Element, NanIsKeptOrStated) {
  for (const DTypeInfo& type : element_types()) {
    const double stored = round_to(type.dtype, kNan);
    if (type.kind == DTypeKind::integer)
      EXPECT_EQ(stored, 0) << type.name;
    else if (type.dtype == DType::e2m1 || type.dtype == DType::e3m2 || type.dtype == DType::e2m3)
      EXPECT_EQ(stored, type.max_finite) << type.name;
    else
      EXPECT_TRUE(std::isnan(stored)) << type.name;
  }
}

// tenstorrent/tt-metal#56526, intel/auto-round#2273, google/XNNPACK#10460.
TEST(Element, IntegersRoundHalfToEvenAndSaturate) {
  const auto expect = [](DType dtype, double given, double wanted) {
    EXPECT_EQ(round_to(dtype, given), wanted) << name(dtype) << ' ' << given;
  };
  for (const double low : {-127.5, -128.0, -130.0, -kInf}) expect(DType::i8, low, -128);
  expect(DType::i8, 127.5, 127);
  expect(DType::u8, -5, 0);
  expect(DType::u8, 255.5, 255);
  expect(DType::i4, 9, 7);
  expect(DType::i4, -9, -8);
  expect(DType::u4, 15.6, 15);
  for (const DType dtype : {DType::i64, DType::i32, DType::i16, DType::i8, DType::u8, DType::i4}) {
    expect(dtype, 0.5, 0);
    expect(dtype, 1.5, 2);
    expect(dtype, 2.5, 2);
  }
  std::int64_t big = 0;
  store_element(DType::i64, &big, 0, 0x1p63);
  EXPECT_EQ(big, std::numeric_limits<std::int64_t>::max());
  store_element(DType::i64, &big, 0, -1e300);
  EXPECT_EQ(big, std::numeric_limits<std::int64_t>::min());
  std::uint8_t packed = 0;
  const std::array levels{15.6, 3.0};
  narrow(DType::u4, levels.data(), 2, &packed);
  EXPECT_EQ(packed, 0x3f);
}

TEST(Element, DoubleToFloatRoundsLikeTheProcessor) {
  for (std::uint64_t i = 0; i < 1000000; ++i) {
    const std::uint64_t word = i * 0x9e3779b97f4a7c15ULL;  // about a ninth lies in a float's range
    const std::uint64_t near_one = (word >> 4) | (i % 2 == 0 ? 0x3000000000000000ULL : 0);
    double value = 0;
    std::memcpy(&value, &near_one, sizeof value);
    ASSERT_TRUE(same(round_to(DType::f32, value), static_cast<float>(value))) << value;
  }
}

// The spacing is the distance to the next number up, wherever there is one in the same binade.
TEST(Ulp, IsTheDistanceBetweenNeighbours) {
  for (const DTypeInfo& type : element_types()) {
    if (!is_small(type) || type.kind != DTypeKind::floating) continue;
    std::vector<double> numbers;
    for (const double number : all_numbers(type.dtype))
      if (std::isfinite(number) && !std::signbit(number)) numbers.push_back(number);
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      const double gap = numbers[i + 1] - numbers[i], middle = numbers[i] + gap / 2;
      ASSERT_EQ(ulp_of(type.dtype, numbers[i]), gap) << type.name << ' ' << numbers[i];
      ASSERT_EQ(ulp_of(type.dtype, -middle), gap) << type.name << ' ' << middle;
    }
    const double top = numbers.back() - numbers[numbers.size() - 2];
    for (const double beyond : {numbers.back(), 2 * numbers.back(), kInf})
      EXPECT_EQ(ulp_of(type.dtype, beyond), top) << type.name;
  }
}

TEST(Ulp, WideAndOtherTypes) {
  EXPECT_EQ(ulp_of(DType::f32, 1), 0x1p-23);
  EXPECT_EQ(ulp_of(DType::f32, 0), 0x1p-149);
  EXPECT_EQ(ulp_of(DType::f64, 1), 0x1p-52);
  EXPECT_EQ(ulp_of(DType::f64, 0), 5e-324);
  EXPECT_EQ(ulp_of(DType::e8m0, 5), 4);
  EXPECT_EQ(ulp_of(DType::i8, 100), 1);
  EXPECT_TRUE(std::isnan(ulp_of(DType::bf16, kNan)));
}

}  // namespace
}  // namespace rooftile
